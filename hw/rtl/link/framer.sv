// SPDX-License-Identifier: Apache-2.0
// The sending half of a link port (facts/lanai_pcix.md B6): a packet's bytes, route first, then the CRC-32 over
// a range of them where that is asked for, the CRC-8 over all of it, and the GAP. A character a clock, unless
// STOP holds it.
//
// A character starts in the clock in which its byte is there. One that starts in the clock in which STOP comes
// is sent; GO lets characters start in its own clock. If both come in one clock, STOP is the later one.
module framer (
    input logic clk,
    input logic reset,

    input  logic       in_valid,
    output logic       in_ready,
    input  logic [7:0] in_byte,
    input  logic       in_last,   // of the packet
    input  logic       in_crc32,  // the CRC-32 covers the packet from this byte on, not those before

    // From the opposite direction, when the symbol is through.
    input logic stop,
    input logic go,

    output logic       out_valid,
    output logic       out_gap,
    output logic [7:0] out_byte,
    output logic       quiet  // no register changes at the next edge without new input
);
    import link_crc::*;

    typedef enum logic [1:0] {
        DATA,
        CRC32,
        CRC8,
        GAP
    } phase_t;

    phase_t phase_q  /*verilator public_flat_rd*/;
    phase_t phase_d;
    logic stopped_q  /*verilator public_flat_rd*/;
    logic covered_q;
    logic [1:0] count_q;  // bytes of the CRC-32 that are sent
    logic [7:0] crc8_q;
    logic [31:0] crc32_q;

    logic may_send, covered;
    logic [31:0] crc32_sum;

    always_comb begin
        may_send = !stopped_q || go;
        in_ready = may_send && phase_q == DATA;
        covered = covered_q || in_crc32;
        crc32_sum = ~crc32_q;
        out_valid = may_send;
        out_gap = 1'b0;
        out_byte = 8'd0;
        phase_d = phase_q;
        case (phase_q)
            DATA: begin
                out_valid = may_send && in_valid;
                out_byte = in_byte;
                if (in_last) phase_d = covered ? CRC32 : CRC8;
            end
            CRC32: begin
                out_byte = crc32_sum[{~count_q, 3'd0}+:8];  // most significant first
                if (count_q == 2'd3) phase_d = CRC8;
            end
            CRC8: begin
                out_byte = crc8_q;
                phase_d = GAP;
            end
            GAP: begin
                out_gap = 1'b1;
                phase_d = DATA;
            end
        endcase
        quiet = !(reset || stop || go || out_valid);
    end

    always_ff @(posedge clk) begin
        if (out_valid) begin
            phase_q <= phase_d;
            crc8_q <= out_gap ? 8'd0 : crc8(crc8_q, out_byte);
            if (phase_q == DATA) begin
                covered_q <= covered;
                if (covered) crc32_q <= crc32(in_crc32 ? '1 : crc32_q, in_byte);
            end
            if (phase_q == CRC32) count_q <= count_q + 2'd1;
            if (phase_q == GAP) covered_q <= 1'b0;
        end
        if (stop || go) stopped_q <= stop;
        if (reset) begin
            phase_q <= DATA;
            stopped_q <= 1'b0;
            covered_q <= 1'b0;
            count_q <= 2'd0;
            crc8_q <= 8'd0;
        end
    end

    // --- What must hold: not counted in coverage, since the branch of a failure stops the run.

    // verilator coverage_off
    byte_stands :
    assert property (@(posedge clk) disable iff (reset)
        in_valid && !in_ready |=> in_valid && $stable({in_byte, in_last, in_crc32}))
    else $stop;
    crc_of_the_whole_is_zero :
    assert property (@(posedge clk) disable iff (reset) out_valid && out_gap |-> crc8_q == 8'd0)
    else $stop;
    stopped_is_silent :
    assert property (@(posedge clk) disable iff (reset) stop && !stopped_q |=> go || !out_valid)
    else $stop;
    quiet_changes_nothing :
    assert property (@(posedge clk) quiet |=> $stable({phase_q, stopped_q, covered_q, count_q, crc8_q, crc32_q}))
    else $stop;
    // verilator coverage_on
endmodule
