// SPDX-License-Identifier: Apache-2.0
// Instruction decoder (facts/lanai_pcix.md A3, A4).
module lanai_decode
    import lanai_pkg::*;
(
    input  logic [31:0] word,
    output control_t control
);
    localparam logic [4:0] j_select = 5'b00000, j_logical = 5'b10000, j_arithmetic = 5'b11000;

    // --- Fields

    logic [4:0] rd, rs1, rs2, j;
    logic [2:0] bbb;
    logic f, h;
    logic [20:0] absolute;
    logic [31:0] offset16, offset10;

    always_comb begin
        rd = word[27:23];
        rs1 = word[22:18];
        rs2 = word[15:11];
        bbb = word[10:8];
        j = word[7:3];
        f = word[17];
        h = word[16];
        absolute = {word[22:18], word[15:0]};
        offset16 = {{16{word[15]}}, word[15:0]};
        offset10 = {{22{word[9]}}, word[9:0]};
    end

    // --- BBB and JJJJJ of RR and RRM

    operation_t register_op;
    logic register_op_known;

    always_comb begin
        register_op_known = 1'b1;
        register_op = operation_t'({1'b0, bbb});
        if (bbb == 3'd7) begin
            case (j)
                j_select: register_op = op_select;
                j_logical: register_op = op_shift_logical;
                j_arithmetic: register_op = op_shift_arithmetic;
                default: register_op_known = 1'b0;
            endcase
        end
    end

    // --- RI: a half of the operand is the constant, the other one neutral

    logic [31:0] constant;

    always_comb begin
        constant = h ? {word[15:0], 16'd0} : {16'd0, word[15:0]};
        if (word[30:28] == 3'd4) constant = constant | (h ? 32'h0000_FFFF : 32'hFFFF_0000);
        if (word[30:28] == 3'd7) constant = offset16;
    end

    // --- Formats by the top four bits

    logic spls;

    always_comb begin
        spls = f && h;
        control = '0;
        control.op = op_add;
        control.size = size_word;
        casez (word[31:28])
            4'b0???: begin  // RI
                control.op = operation_t'({1'b0, word[30:28]});
                if (word[30:28] == 3'd7 && h) control.op = op_shift_arithmetic;
                control.rd = rd;
                control.rs1 = rs1;
                control.has_immediate = 1'b1;
                control.immediate = constant;
                control.sets_flags = f;
            end
            4'b100?: begin  // RM
                control.rd = rd;
                control.rs1 = rs1;
                control.has_immediate = 1'b1;
                control.immediate = f || h ? offset16 : 32'd0;
                control.memory = 1'b1;
                control.store = word[28];
                control.pre = f;
                control.update = h;
            end
            4'b101?: begin  // RRM
                control.op = register_op;
                control.rd = rd;
                control.rs1 = rs1;
                control.rs2 = f || h ? rs2 : 5'd0;
                control.memory = 1'b1;
                control.store = word[28];
                control.pre = f;
                control.update = h;
                control.zero_extend = word[0];
                case (word[2:1])
                    2'b00: control.size = size_half;
                    2'b01: control.size = size_word;
                    default: control.size = size_byte;
                endcase
                // An address made by a shift goes with a word access.
                control.illegal = word[2:1] == 2'b11 || !register_op_known || register_op == op_select ||
                    (word[28] && word[0]) || (bbb == 3'd7 && word[2:1] != 2'b01);
            end
            4'b1100: begin  // RR
                control.op = register_op;
                control.rd = rd;
                control.rs1 = rs1;
                control.rs2 = rs2;
                control.sets_flags = f;
                control.condition = {word[2:0], h};
                control.conditional = register_op != op_select;
                control.illegal = !register_op_known || (bbb != 3'd7 && j != 5'd0) ||
                    (register_op == op_select && f);
            end
            4'b1101: begin  // special
                control.op = word[1:0] == 2'd1 ? op_popc : word[1:0] == 2'd2 ? op_leadz : op_trailz;
                control.rd = rd;
                control.rs1 = rs1;
                control.illegal = word[17:2] != 16'd0 || word[1:0] == 2'd0;
            end
            4'b1110: begin  // BR, BRR, SCC
                control.condition = {word[27:25], word[0]};
                control.has_immediate = 1'b1;
                if (!word[1]) begin
                    control.branch = 1'b1;
                    control.conditional = 1'b1;
                    control.immediate = {7'd0, word[24:2], 2'd0};
                end else if (word[24]) begin
                    control.branch = 1'b1;
                    control.conditional = 1'b1;
                    control.rs1 = rs1;
                    control.immediate = {offset16[31:2], 2'd0};
                    control.illegal = word[23] || word[17:16] != 2'd0;
                end else begin
                    control.set_condition = 1'b1;
                    control.rd = rs1;
                    control.illegal = word[23] || word[17:2] != 16'd0;
                end
            end
            default: begin  // SLS, SLI, SPLS
                control.rd = rd;
                control.rs1 = spls ? rs1 : 5'd0;
                control.has_immediate = 1'b1;
                control.immediate = {11'd0, absolute[20:2], f ? absolute[1:0] : 2'd0};
                control.memory = !f || h;
                control.store = f ? spls && word[13] : h;
                control.pre = f ? spls && word[11] : 1'b1;
                control.update = spls && word[10];
                if (spls) begin
                    control.immediate = word[11] || word[10] ? offset10 : 32'd0;
                    control.size = word[14] ? size_byte : size_half;
                    control.zero_extend = word[12];
                    control.illegal = word[15] || (word[13] && word[12]);
                end
            end
        endcase
        if (control.illegal) begin  // reads nothing, so waits for nothing
            control = '0;
            control.illegal = 1'b1;
        end
        control.late = (control.memory && !control.store) || (word[31:28] == 4'hF && f && !h);  // load, SLI
        if (control.update && control.rs1 == reg_pc) control.illegal = 1'b1;
    end
endmodule
