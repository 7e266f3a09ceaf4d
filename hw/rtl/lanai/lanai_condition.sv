// SPDX-License-Identifier: Apache-2.0
// Whether condition DDDI holds (facts/lanai_pcix.md A5).
module lanai_condition
    import lanai_pkg::*;
(
    input logic [3:0] condition,
    input flags_t flags,
    output logic holds
);
    logic positive;

    always_comb begin
        case (condition[3:1])
            3'd0: positive = 1'b1;
            3'd1: positive = flags.c && !flags.z;
            3'd2: positive = !flags.c;
            3'd3: positive = !flags.z;
            3'd4: positive = !flags.v;
            3'd5: positive = !flags.n;
            3'd6: positive = flags.n == flags.v;
            3'd7: positive = flags.n == flags.v && !flags.z;
        endcase
        holds = positive != condition[0];
    end
endmodule
