// SPDX-License-Identifier: Apache-2.0
// One channel of the host DMA: walks its chain of blocks (facts/lanai_pcix.md B5; firmware/abi/card_map.h).
//
// What follows from an input without a register follows in the same clock: a burst that the SRAM has finished lets the
// next one be asked for at once.
module dma_channel (
    input logic clk,
    input logic reset,

    // Straps.
    input logic        one_engine,  // then a channel has it from the fetch on
    input logic [ 9:0] trigger_clocks,
    input logic [ 9:0] setup_clocks,
    input logic [ 9:0] finish_clocks,
    input logic [ 3:0] half_log2,   // bytes of half the FIFO

    // Registers.
    input logic        base_valid,
    input logic [31:0] base,
    input logic        pulse,
    input logic        start,       // a block by registers

    // Descriptor: of the block at hand, or of the next.
    output logic         fetch,
    output logic [ 31:0] fetch_address,
    input  logic         fetched,
    // A descriptor's fields, of `fetched` or `start`.
    input  logic [ 31:0] block_next,
    input  logic [ 23:0] block_bytes,
    input  logic [ 22:0] block_local,
    input  logic [ 63:0] block_host,

    // Engine.
    output logic wants,
    output logic to_card,
    input  logic grant,
    output logic releases,
    output logic set_up,

    // Transfer.
    output logic        begins,
    input  logic        go,          // its buffers are free
    output logic        load,        // the whole block, from the host into the SRAM
    output logic [63:0] host,
    output logic [22:0] local_address,
    output logic [23:0] bytes,
    input  logic        loaded,
    output logic        read,        // a piece of the block, from the SRAM into half of the FIFO
    output logic        read_half,
    output logic [22:0] read_address,
    output logic [16:0] read_bytes,
    input  logic        piece_read,
    output logic        send,        // from there to the host
    output logic        send_half,
    output logic [63:0] send_address,
    input  logic [ 1:0] sent,
    input  logic        late,        // what the bus ends in this clock, it ends after its edge: count from the next
    input  logic        bus_error,
    output logic        moved,

    // End of a block.
    input  logic written_back,
    output logic finished,
    output logic by_registers,
    output logic waits,         // for its turn: the channel was idle, or has another block to do
    output logic stops,
    output logic quiet          // no register changes at the next edge without new input
);
    /*verilator inline_module*/
    localparam int unsigned terminal_bit = 1;

    typedef enum logic [2:0] {
        idle,
        trigger,
        ask,
        descriptor,
        setup,
        transfer,
        write_back,
        failed
    } state_t;
    state_t state_q  /*verilator public_flat_rd*/;

    logic [31:0] base_q;
    logic [31:0] at_q  /*verilator public_flat_rd*/;
    logic [ 7:0] pulses_q  /*verilator public_flat_rd*/;
    logic [ 9:0] count_q;
    logic [31:0] next_q;
    logic [23:0] bytes_q;
    logic [22:0] local_q;
    logic [63:0] host_q;
    logic direct_q, known_q, engine_q, going_q;
    // Towards the host: two halves of the FIFO, filled in turn.
    logic [1:0] free_q;
    logic [1:0][16:0] piece_q;
    logic [1:0][23:0] piece_offset_q;
    logic reading_q, half_q;
    logic [23:0] ahead_q  /*verilator public_flat_rd*/;  // read from the SRAM, or being read
    logic [23:0] moved_q  /*verilator public_flat_rd*/;

    // --- The end of a block, and who wants an engine

    logic expires, next_block, asks, awake;
    logic [8:0] pulses_then;

    always_comb begin
        expires = count_q == 10'd0;
        awake = state_q != failed || base_valid;
        by_registers = direct_q;
        finished = state_q == write_back && (direct_q ? expires : written_back);
        pulses_then = {1'b0, pulses_q} + {8'd0, pulse && awake};
        if (finished && !direct_q && next_q[terminal_bit]) pulses_then = pulses_then - 9'd1;
        next_block = (state_q == trigger && expires && !known_q) ||
                     (finished && !direct_q && pulses_then != 9'd0);
        stops = finished && (direct_q || pulses_then == 9'd0);
        asks = state_q == ask || (next_block && one_engine) || (state_q == trigger && expires && known_q) ||
               (fetched && !engine_q);
        wants = asks && !reset;
        waits = next_block || (fetched && !engine_q) || (state_q == idle && start) ||
                (pulse && (state_q == idle || reset || (state_q == failed && base_valid)));
        to_card = fetched ? block_next[0] : next_q[0];
        releases = finished || bus_error;
    end

    // --- With an engine or without

    logic knows;

    always_comb begin
        knows = fetched || (known_q && !finished);
        fetch = (next_block && !one_engine) || (grant && !knows);
        fetch_address = finished ? {next_q[31:3], 3'd0} : at_q;
        set_up = (fetched && engine_q) || (grant && knows);
    end

    // --- The transfer

    logic in_transfer, all_moved;
    logic [1:0] free_now, free_then;
    logic [23:0] moved_then, offset, left;
    logic [16:0] room, half_mask;

    always_comb begin
        begins = state_q == setup && expires;
        in_transfer = (begins || state_q == transfer) && (go || going_q);
        host = host_q;
        local_address = local_q;
        bytes = bytes_q;
        load = in_transfer && go && next_q[0] && bytes_q != 24'd0;

        // A piece ends where the next half of the FIFO begins in host memory.
        half_mask = (17'd1 << half_log2) - 17'd1;
        offset = going_q ? ahead_q : 24'd0;
        left = bytes_q - offset;
        room = half_mask + 17'd1 - ((host_q[16:0] + offset[16:0]) & half_mask);
        free_now = going_q ? free_q : 2'b11;
        free_then = free_now | sent;
        read = in_transfer && !next_q[0] && !(going_q && reading_q && !piece_read) && free_then != 2'b00 &&
               left != 24'd0;
        // A half that is sent in this clock is taken only where no other one is free: nothing changes after `read`.
        read_half = free_now != 2'b00 ? !free_now[0] : !sent[0];
        read_address = local_q + offset[22:0];
        read_bytes = left < {7'd0, room} ? left[16:0] : room;
        send = piece_read;
        send_half = half_q;
        send_address = host_q + {40'd0, piece_offset_q[half_q]};

        moved_then = going_q ? moved_q : 24'd0;
        if (sent[0]) moved_then = moved_then + {7'd0, piece_q[0]};
        if (sent[1]) moved_then = moved_then + {7'd0, piece_q[1]};
        all_moved = next_q[0] ? loaded : sent != 2'b00 && moved_then == bytes_q;
        moved = in_transfer && (all_moved || (go && bytes_q == 24'd0));

        quiet = !(reset || base_valid || pulse || start || fetched || grant || go || loaded || piece_read ||
                  sent != 2'b00 || bus_error || written_back || state_q == trigger || state_q == setup ||
                  (state_q == write_back && direct_q) || (count_q != 10'd0));
    end

    // --- Registers

    always_ff @(posedge clk) begin
        pulses_q <= pulses_then[7:0];
        if (!expires) count_q <= count_q - 10'd1;

        if (fetched || start) begin
            next_q <= block_next;
            bytes_q <= block_bytes;
            local_q <= block_local;
            host_q <= block_host;
            known_q <= 1'b1;
        end

        unique case (state_q)
            idle:
            if (pulse || start) begin
                state_q <= trigger;
                count_q <= trigger_clocks - 10'd1;
                direct_q <= start;
            end
            descriptor:
            if (fetched && engine_q) begin
                state_q <= setup;
                count_q <= setup_clocks - 10'd1;
            end
            setup:
            if (begins) begin
                state_q <= moved ? write_back : transfer;
                count_q <= finish_clocks - {9'd0, !late};
            end
            transfer:
            if (moved) begin
                state_q <= write_back;
                count_q <= finish_clocks - {9'd0, !late};
            end
            default: ;
        endcase

        if (next_block) known_q <= 1'b0;
        if (finished) begin
            state_q  <= idle;
            engine_q <= 1'b0;
            known_q  <= 1'b0;
            direct_q <= 1'b0;
            if (!direct_q) at_q <= {next_q[31:3], 3'd0};
        end
        if (asks) state_q <= ask;
        if (fetch) state_q <= descriptor;
        if (grant) begin
            engine_q <= 1'b1;
            if (!fetch) begin
                state_q <= setup;
                count_q <= setup_clocks;
            end
        end

        going_q <= in_transfer && !moved;
        if (in_transfer) begin
            free_q  <= free_then;
            moved_q <= moved_then;
            ahead_q <= offset;
            if (go || piece_read) reading_q <= 1'b0;
        end
        if (read) begin
            reading_q <= 1'b1;
            half_q <= read_half;
            free_q[read_half] <= 1'b0;
            piece_q[read_half] <= read_bytes;
            piece_offset_q[read_half] <= offset;
            ahead_q <= offset + {7'd0, read_bytes};
        end

        if (bus_error || reset) begin
            state_q <= reset ? idle : failed;
            pulses_q <= '0;
            engine_q <= 1'b0;
            known_q <= 1'b0;
            direct_q <= 1'b0;
            going_q <= 1'b0;
            if (reset) at_q <= base_q;
        end
        // After a reset in the same clock.
        if (base_valid) begin
            base_q <= base;
            at_q <= base;
            if (state_q == failed) state_q <= idle;
        end
        if (pulse && (reset || (state_q == failed && base_valid))) begin
            state_q <= trigger;
            count_q <= trigger_clocks - 10'd1;
            pulses_q <= 8'd1;
        end
    end

    // --- What must hold: not counted in coverage, since the branch of a failure stops the run.

    // verilator coverage_off
    granted_what_it_wants :
    assert property (@(posedge clk) grant |-> wants)
    else $stop;
    fetched_what_it_asked_for :
    assert property (@(posedge clk) fetched |-> state_q == descriptor)
    else $stop;
    aligned_descriptors :
    assert property (@(posedge clk) fetch |-> fetch_address[2:0] == 3'd0)
    else $stop;
    a_piece_that_was_asked_for :
    assert property (@(posedge clk) piece_read |-> going_q && reading_q)
    else $stop;
    a_half_that_was_sent :
    assert property (@(posedge clk) (sent & free_q) == 2'b00)
    else $stop;
    no_byte_too_many :
    assert property (@(posedge clk) going_q |-> ahead_q <= bytes_q && moved_q <= ahead_q)
    else $stop;
    written_when_moved :
    assert property (@(posedge clk) written_back |-> state_q == write_back && !direct_q)
    else $stop;
    pulses_do_not_overflow :
    assert property (@(posedge clk) !pulses_then[8])
    else $stop;
    started_when_idle :
    assert property (@(posedge clk) start |-> state_q == idle || state_q == failed)
    else $stop;
    quiet_changes_nothing :
    assert property (@(posedge clk)
        quiet |=> $stable({state_q, at_q, base_q, pulses_q, next_q, bytes_q, known_q, engine_q, going_q, free_q, ahead_q, moved_q}))
    else $stop;
    // verilator coverage_on
endmodule
