// SPDX-License-Identifier: Apache-2.0
// The host DMA of the card without its data: four channels that walk chains of blocks, and engines that they share
// block by block.
module dma_chains (
    input logic clk,
    input logic reset,

    // Straps.
    input logic [2:0] engines,         // 1, 2 (one for each direction) or 4
    input logic       fixed_priority,  // else round robin
    input logic [9:0] trigger_clocks,
    input logic [9:0] setup_clocks,
    input logic [9:0] finish_clocks,
    input logic [3:0] half_log2,

    // Each bit is a channel.
    input logic [3:0] base_valid,
    input logic [3:0][31:0] base,
    input logic [3:0] pulse,
    input logic [3:0] start,

    output logic [3:0] fetch,
    output logic [3:0][31:0] fetch_address,
    input logic [3:0] fetched,
    input logic [3:0][31:0] block_next,
    input logic [3:0][23:0] block_bytes,
    input logic [3:0][22:0] block_local,
    input logic [3:0][63:0] block_host,

    output logic [3:0] granted,
    output logic [3:0] set_up,

    output logic [3:0] begins,
    input logic [3:0] go,
    output logic [3:0] load,
    output logic [3:0][63:0] host,
    output logic [3:0][22:0] local_address,
    output logic [3:0][23:0] bytes,
    input logic [3:0] loaded,
    output logic [3:0] read,
    output logic [3:0] read_half,
    output logic [3:0][22:0] read_address,
    output logic [3:0][16:0] read_bytes,
    input logic [3:0] piece_read,
    output logic [3:0] send,
    output logic [3:0] send_half,
    output logic [3:0][63:0] send_address,
    input logic [3:0][1:0] sent,
    input logic [3:0] late,
    input logic [3:0] bus_error,
    output logic [3:0] moved,

    input  logic [3:0] written_back,
    output logic [3:0] finished,
    output logic [3:0] by_registers,
    output logic [3:0] waits,
    output logic [3:0] stops,
    output logic quiet
);
    logic [3:0] wants, to_card, releases, quiet_channel;

    // Who has an engine, and where the round robin begins.
    logic [3:0] busy_q  /*verilator public_flat_rd*/;
    logic [1:0] turn_q;

    logic [3:0] busy, waiting;
    logic [1:0] turn, candidate;
    logic free, found;

    always_comb begin
        busy = busy_q & ~releases;
        waiting = wants;
        turn = turn_q;
        granted = '0;
        candidate = '0;
        free = 1'b0;
        for (int pass = 0; pass < 4; pass++) begin
            found = 1'b0;
            for (int i = 0; i < 4; i++) begin
                candidate = fixed_priority ? i[1:0] : turn + i[1:0];
                free = busy == '0;
                if (engines == 3'd4) free = 1'b1;
                if (engines == 3'd2) free = (busy & (to_card[candidate] ? to_card : ~to_card)) == '0;
                if (!found && waiting[candidate] && free) begin
                    found = 1'b1;
                    granted[candidate] = 1'b1;
                    busy[candidate] = 1'b1;
                    waiting[candidate] = 1'b0;
                    turn = candidate + 2'd1;
                end
            end
        end
    end

    always_ff @(posedge clk) begin
        busy_q <= reset ? '0 : busy;
        turn_q <= turn;
    end

    for (genvar n = 0; n < 4; n++) begin : channel
        dma_channel walk (
            .clk,
            .reset,
            .one_engine(engines == 3'd1),
            .trigger_clocks,
            .setup_clocks,
            .finish_clocks,
            .half_log2,
            .base_valid(base_valid[n]),
            .base(base[n]),
            .pulse(pulse[n]),
            .start(start[n]),
            .fetch(fetch[n]),
            .fetch_address(fetch_address[n]),
            .fetched(fetched[n]),
            .block_next(block_next[n]),
            .block_bytes(block_bytes[n]),
            .block_local(block_local[n]),
            .block_host(block_host[n]),
            .wants(wants[n]),
            .to_card(to_card[n]),
            .grant(granted[n]),
            .releases(releases[n]),
            .set_up(set_up[n]),
            .begins(begins[n]),
            .go(go[n]),
            .load(load[n]),
            .host(host[n]),
            .local_address(local_address[n]),
            .bytes(bytes[n]),
            .loaded(loaded[n]),
            .read(read[n]),
            .read_half(read_half[n]),
            .read_address(read_address[n]),
            .read_bytes(read_bytes[n]),
            .piece_read(piece_read[n]),
            .send(send[n]),
            .send_half(send_half[n]),
            .send_address(send_address[n]),
            .sent(sent[n]),
            .late(late[n]),
            .bus_error(bus_error[n]),
            .moved(moved[n]),
            .written_back(written_back[n]),
            .finished(finished[n]),
            .by_registers(by_registers[n]),
            .waits(waits[n]),
            .stops(stops[n]),
            .quiet(quiet_channel[n])
        );
    end

    assign quiet = quiet_channel == '1 && granted == '0 && !reset;

    // --- What must hold: not counted in coverage, since the branch of a failure stops the run.

    // verilator coverage_off
    one_engine_one_channel :
    assert property (@(posedge clk) engines == 3'd1 |-> $onehot0(busy_q))
    else $stop;
    quiet_changes_nothing :
    assert property (@(posedge clk) quiet |=> $stable({busy_q, turn_q}))
    else $stop;
    // verilator coverage_on
endmodule
