// SPDX-License-Identifier: Apache-2.0
// Arithmetic and logic, and the flags that they give (facts/lanai_pcix.md A4, A5).
module lanai_alu
    import lanai_pkg::*;
(
    input operation_t op,
    input logic [31:0] a,
    input logic [31:0] b,
    input logic carry,
    output logic [31:0] value,
    output flags_t flags
);
    // --- Adder: a subtraction adds the complement, and carry is add-style

    logic subtract;
    logic [31:0] addend, sum;
    logic carry_in, carry_out, overflow;

    always_comb begin
        subtract = op == op_sub || op == op_subb;
        addend = subtract ? ~b : b;
        carry_in = op == op_addc || op == op_subb ? carry : subtract;
        {carry_out, sum} = {1'b0, a} + {1'b0, addend} + {32'd0, carry_in};
        overflow = (a[31] == addend[31]) && (sum[31] != a[31]);
    end

    // --- Shifter: a negative amount shifts to the right; amounts wrap at 32 (A13 item 7)

    logic right;
    logic [4:0] amount;
    logic [31:0] to_right;
    logic [32:0] to_left;  // its top bit is the last one shifted out

    always_comb begin
        right = b[31];
        amount = right ? -b[4:0] : b[4:0];
        to_right = op == op_shift_arithmetic ? $unsigned($signed(a) >>> amount) : a >> amount;
        to_left = {1'b0, a} << amount;
    end

    // --- Counts: 32 where no bit is set

    logic [5:0] ones, leading, trailing;

    always_comb begin
        ones = 6'($countones(a));
        leading = 6'd32;
        trailing = 6'd32;
        for (int i = 0; i < 32; ++i) begin
            if (a[i]) leading = 6'(31 - i);
            if (a[31-i]) trailing = 6'(31 - i);
        end
    end

    always_comb begin
        case (op)
            op_add, op_addc, op_sub, op_subb: value = sum;
            op_and: value = a & b;
            op_or: value = a | b;
            op_xor: value = a ^ b;
            op_shift_logical, op_shift_arithmetic: value = right ? to_right : to_left[31:0];
            op_popc: value = {26'd0, ones};
            op_leadz: value = {26'd0, leading};
            op_trailz: value = {26'd0, trailing};
            default: value = '0;  // SELECT, which is not made here
        endcase
        flags.n = value[31];
        flags.z = value == '0;
        flags.v = 1'b0;
        flags.c = 1'b0;
        case (op)
            op_add, op_addc, op_sub, op_subb: begin
                flags.v = overflow;
                flags.c = carry_out;
            end
            op_shift_logical, op_shift_arithmetic: flags.c = !right && to_left[32];
            default: ;
        endcase
    end
endmodule
