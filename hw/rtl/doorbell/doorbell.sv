// SPDX-License-Identifier: Apache-2.0
// Decoder of the doorbell pages and controller of the FIFO in SRAM (facts/lanai_pcix.md B5): a write of the
// host becomes an (address, data) pair in the SRAM and wakes the LANai; one that finds its entry not free is
// lost.
//
// The host writes one word a clock. What follows from it without a register leaves in the same clock: the
// request for the SRAM, and `lost`.
module doorbell (
    input logic clk,
    input logic reset,              // of the board
    input logic [20:0] sram_words,  // strap: size of the SRAM, 8 bytes each

    // The pointer bank and the control register. Setting a base starts that queue at its first entry.
    input logic        base_valid,
    input logic [ 1:0] base_number,
    input logic [31:0] base_address,
    input logic        control_valid,
    input logic [ 2:0] control_size,    // 512 << n entries
    input logic        control_queues,  // four queues, by page

    // A write of the host to the doorbell region.
    input  logic        ring_valid,
    output logic        ring_ready,
    input  logic [22:0] ring_offset,
    input  logic [31:0] ring_data,

    // The controller's own record of which entries are free, which takes no slot of the SRAM.
    output logic        tag_valid,
    output logic [22:0] tag_address,
    input  logic        tag_free,

    // Port of the SRAM: the request stands until it is done.
    output logic        sram_request,
    output logic [22:0] sram_address,
    output logic [22:0] sram_offset,
    output logic [31:0] sram_data,
    input  logic        sram_done,

    output logic stored,  // ISR WAKE0
    output logic lost,    // ISR MEM
    output logic quiet    // no register changes at the next edge without new input
);
    localparam int unsigned page_bits = 12;

    logic [3:0][31:0] base_q  /*verilator public_flat_rd*/;
    logic [3:0][15:0] next_q  /*verilator public_flat_rd*/;
    logic [2:0] size_q;
    logic queues_q;

    logic busy_q  /*verilator public_flat_rd*/;
    logic [22:0] address_q  /*verilator public_flat_rd*/;
    logic [22:0] offset_q;
    logic [31:0] data_q;

    // --- Which queue, and where its next entry is

    logic [1:0] queue;
    logic [15:0] index;
    logic [22:0] address;
    logic [32:0] end_of_queue;
    logic fits;

    always_comb begin
        queue = queues_q ? ring_offset[page_bits+:2] : 2'd0;
        index = next_q[queue] & ~(16'hFE00 << size_q);
        end_of_queue = {1'b0, base_q[queue]} + (33'd4096 << size_q);
        fits = end_of_queue <= {9'd0, sram_words, 3'd0};
        address = base_q[queue][22:0] + {4'd0, index, 3'd0};
    end

    // --- A doorbell

    logic ring, accept;

    always_comb begin
        ring_ready = !busy_q;
        ring = ring_valid && ring_ready;
        tag_valid = ring && fits;
        tag_address = address;
        accept = tag_valid && tag_free;
        lost = ring && !accept;
        sram_request = accept || busy_q;
        sram_address = busy_q ? address_q : address;
        sram_offset = busy_q ? offset_q : ring_offset;
        sram_data = busy_q ? data_q : ring_data;
        stored = busy_q && sram_done;
        quiet = !(reset || base_valid || control_valid || accept || stored);
    end

    always_ff @(posedge clk) begin
        if (accept) begin
            next_q[queue] <= next_q[queue] + 16'd1;
            busy_q <= 1'b1;
            address_q <= address;
            offset_q <= ring_offset;
            data_q <= ring_data;
        end
        if (stored) busy_q <= 1'b0;
        if (base_valid) begin
            base_q[base_number] <= base_address;
            next_q[base_number] <= 16'd0;
        end
        if (control_valid) begin
            size_q <= control_size;
            queues_q <= control_queues;
        end
        if (reset) begin
            base_q <= '0;
            next_q <= '0;
            size_q <= 3'd0;
            queues_q <= 1'b0;
            busy_q <= 1'b0;
        end
    end

    // --- What must hold: not counted in coverage, since the branch of a failure stops the run.

    // verilator coverage_off
    one_word_a_clock :
    assert property (@(posedge clk) $onehot0({ring_valid, base_valid, control_valid || reset}))
    else $stop;
    rings_when_ready :
    assert property (@(posedge clk) !(ring_valid && !ring_ready))
    else $stop;
    reset_between_doorbells :
    assert property (@(posedge clk) !(reset && busy_q))
    else $stop;
    done_is_asked_for :
    assert property (@(posedge clk) !(sram_done && !busy_q))
    else $stop;
    inside_the_sram :
    assert property (@(posedge clk) sram_request |-> {1'b0, sram_address} + 24'd8 <= {sram_words, 3'd0})
    else $stop;
    request_stands :
    assert property (@(posedge clk) disable iff (reset)
        sram_request && !stored |=> sram_request && $stable({sram_address, sram_offset, sram_data}))
    else $stop;
    quiet_changes_nothing :
    assert property (@(posedge clk)
        quiet |=> $stable({busy_q, address_q, offset_q, data_q, size_q, queues_q, base_q, next_q}))
    else $stop;
    // verilator coverage_on
endmodule
