// SPDX-License-Identifier: Apache-2.0
// The receiving half of a link port (facts/lanai_pcix.md B6): the slack buffer with its thresholds for STOP and
// GO, and the checks of what is taken out of it: CRC-8 over the packet, CRC-32 over a range, misrouting.
//
// A character can be taken in the clock in which it arrives, one a clock; the GAP goes by itself.
module deframer #(
    parameter int unsigned DEPTH = 1024  // a power of two
) (
    input logic clk,
    input logic reset,
    input logic [$clog2(DEPTH)-1:0] stop_above,  // straps
    input logic [$clog2(DEPTH)-1:0] go_below,

    // A character that is through.
    input logic       in_valid,
    input logic       in_gap,
    input logic [7:0] in_byte,

    input  logic       ready,       // a character may be taken in this clock,
    input  logic       take,        // also one that is a byte
    input  logic       take_crc32,  // the CRC-32 covers the packet from the byte taken in this clock on, not those before
    output logic       out_valid,
    output logic       out_gap,
    output logic [7:0] out_byte,

    // With the GAP: zero for a whole packet. The CRC-32's: what came, XOR what should have come; all ones where there
    // is no room for one.
    output logic [ 7:0] remainder,
    output logic [31:0] crc32_remainder,
    output logic        misrouted,

    // To the sender.
    output logic send_stop,
    output logic send_go,

    output logic quiet  // no register changes at the next edge without new input
);
    import link_crc::*;

    localparam int unsigned bits = $clog2(DEPTH);

    logic [8:0] slack[DEPTH];
    logic [bits-1:0] read_q, write_q;
    logic [bits:0] count_q  /*verilator public_flat_rd*/;
    logic stopping_q  /*verilator public_flat_rd*/;

    // --- The slack buffer

    logic [bits:0] count_d;
    logic empty, front_valid;

    always_comb begin
        empty = count_q == '0;
        front_valid = !empty || in_valid;
        {out_gap, out_byte} = empty ? {in_gap, in_byte} : slack[read_q];
        out_valid = front_valid && ready && (out_gap || take);
        count_d = count_q + (bits + 1)'(in_valid) - (bits + 1)'(out_valid);
        send_stop = !stopping_q && count_d > {1'b0, stop_above};
        send_go = stopping_q && count_d < {1'b0, go_below};
        quiet = !(reset || in_valid || out_valid || send_stop || send_go);
    end

    always_ff @(posedge clk) begin
        if (in_valid) begin
            slack[write_q] <= {in_gap, in_byte};
            write_q <= write_q + 1'b1;
        end
        if (out_valid) read_q <= read_q + 1'b1;
        count_q <= count_d;
        if (send_stop || send_go) stopping_q <= send_stop;
        if (reset) begin
            read_q <= '0;
            write_q <= '0;
            count_q <= '0;
            stopping_q <= 1'b0;
        end
    end

    // --- What is taken

    // The CRC-32 covers what lies before the last five bytes of a packet: itself, and the CRC-8.
    localparam int unsigned behind = 5;

    logic [7:0] crc8_q;
    logic [8*behind-1:0] last_q;
    logic [2:0] in_last_q;  // covered bytes in last_q, at most `behind`
    logic covered_q, first_q;
    logic misrouted_q;
    logic [31:0] crc32_q;

    always_comb begin
        remainder = crc8_q;
        misrouted = misrouted_q;
        crc32_remainder = !covered_q ? 32'd0 : in_last_q == 3'(behind) ? ~crc32_q ^ last_q[39:8] : '1;
    end

    always_ff @(posedge clk) begin
        if (out_valid && !out_gap) begin
            crc8_q <= crc8(crc8_q, out_byte);
            last_q <= {last_q[8*(behind-1)-1:0], out_byte};
            first_q <= 1'b0;
            if (first_q) misrouted_q <= out_byte[7];
            covered_q <= covered_q || take_crc32;
            if (take_crc32) begin
                crc32_q <= '1;
                in_last_q <= 3'd1;
            end else if (covered_q) begin
                if (in_last_q == 3'(behind)) crc32_q <= crc32(crc32_q, last_q[8*behind-1-:8]);
                else in_last_q <= in_last_q + 3'd1;
            end
        end
        if (reset || (out_valid && out_gap)) begin
            crc8_q <= 8'd0;
            crc32_q <= '1;
            in_last_q <= 3'd0;
            covered_q <= 1'b0;
            first_q <= 1'b1;
        end
    end

    // --- What must hold: not counted in coverage, since the branch of a failure stops the run.

    // verilator coverage_off
    no_overflow :
    assert property (@(posedge clk) disable iff (reset) count_d <= (bits + 1)'(DEPTH))
    else $stop;
    no_empty_packet :
    assert property (@(posedge clk) disable iff (reset) out_valid && out_gap |-> !first_q)
    else $stop;
    one_symbol :
    assert property (@(posedge clk) !(send_stop && send_go))
    else $stop;
    silent_between :
    assert property (@(posedge clk) disable iff (reset) send_stop |=> !send_stop)
    else $stop;
    count_fits :
    assert property (@(posedge clk) disable iff (reset) bits'(count_q) == write_q - read_q)
    else $stop;
    quiet_changes_nothing :
    assert property (@(posedge clk)
        quiet |=> $stable({read_q, write_q, count_q, stopping_q, crc8_q, last_q, in_last_q, covered_q, first_q,
                           misrouted_q, crc32_q}))
    else $stop;
    // verilator coverage_on
endmodule
