// SPDX-License-Identifier: Apache-2.0
// The LANai core: a pipeline of three stages, whose shape the instruction set shows (facts/lanai_pcix.md A6, A7).
//   F  fetches a word, through a buffer of one line (a slot of the SRAM).
//   X  decodes, reads the registers, executes or works out an address, makes the access, and writes back results.
//      It stands right behind F, so a branch, or a result in the pc, leaves one delay slot.
//   W  writes back what was loaded. It stands behind X, so a load to the pc leaves two delay slots, and an instruction
//      that reads what the one before it loads waits.
//
// An instruction issues when X lets it go; everything that it does to registers, memory and devices happens in that
// clock. The SRAM gives and takes data in the clock in which it is addressed; the slots that this costs are asked for
// from the issue on, and the next instruction waits in X until the arbiter has granted them (hw/nic/lanai/processor.h).
module lanai
    import lanai_pkg::*;
(
    input logic clk,
    input logic reset,

    // Straps.
    input logic [31:0] entry,  // pc after reset
    input logic [20:0] sram_words,  // size of the SRAM, 8 bytes each
    input logic wide_slots,  // a slot moves 8 bytes, not 4
    input logic [2:0] load_slots,
    input logic [2:0] word_store_slots,
    input logic [2:0] narrow_store_slots,
    input logic [2:0] load_use_clocks,
    input logic [6:0] register_load_clocks,
    input logic [6:0] register_store_clocks,

    // Fetches of 8 bytes at a time; `line_address` is what the buffer holds, and another port's write to it comes here.
    output logic fetch_valid,
    output logic [19:0] fetch_address,
    input logic [63:0] fetch_data,
    output logic [19:0] line_address,
    input logic snoop_valid,
    input logic [63:0] snoop_data,

    // Loads and stores. Beyond the SRAM are the special registers, which tell whether there is one.
    output logic access_valid,
    output logic access_special,
    output logic access_write,
    output logic [31:0] access_address,
    output size_t access_size,
    output logic [31:0] access_data,
    output logic [3:0] access_lanes,  // of the SRAM's word, most significant byte first
    output logic [31:0] access_word,
    input logic access_fault,
    input logic [31:0] read_data,  // the SRAM's word, or the register

    // Slots of the SRAM that are still needed, and how many of them this clock has.
    output logic [2:0] slots_wanted,
    input logic [1:0] slots_granted,

    // What passes X in this clock.
    output logic issue,
    output trap_t trap,
    output logic [31:0] pc,
    output logic [31:0] word,
    output logic [4:0] rd,
    output logic [31:0] rs1_value,
    output logic [31:0] rs2_value,
    output logic result_valid,
    output logic [4:0] result_register,
    output logic [31:0] result,
    output logic [31:0] loaded,
    output logic quiet  // no register changes at the next edge without new input
);
    logic halted_q  /*verilator public_flat_rd*/;
    logic [31:0] registers_q[3:31]  /*verilator public_flat_rd*/;
    flags_t flags_q  /*verilator public_flat_rd*/;

    // The addresses of the words in X and F, and of the one behind them.
    logic x_valid_q;
    logic [31:0] pc_q;
    logic [31:0] next_q  /*verilator public_flat_rd*/;
    logic [31:0] second_q;
    logic [1:0] delay_slots_q  /*verilator public_flat_rd*/;  // of the words from X on

    logic [63:0] line_q;
    logic fetched_q;  // the line came with the word in X, which owes its slot

    logic [2:0] owed_q  /*verilator public_flat_rd*/;  // slots
    logic [6:0] special_q  /*verilator public_flat_rd*/;  // clocks of an access to a special register
    logic [2:0] interlock_q  /*verilator public_flat_rd*/;  // clocks that the word in X has waited
    logic [4:0] loading_q  /*verilator public_flat_rd*/;  // register that the instruction before the word in X loads

    logic w_valid_q  /*verilator public_flat_rd*/;
    logic [4:0] w_register_q  /*verilator public_flat_rd*/;
    logic [31:0] w_value_q  /*verilator public_flat_rd*/;

    function automatic logic in_sram(input logic [31:3] address);
        return address < {8'd0, sram_words};
    endfunction

    // --- X: decode and operands

    control_t control;
    logic [63:0] line;
    logic [31:0] a, b, rd_value;

    function automatic logic [31:0] operand(input logic [4:0] number);
        return number == 5'd0 ? 32'd0 :
            number == 5'd1 ? 32'hFFFF_FFFF :
            number == reg_pc ? pc_q :
            w_valid_q && w_register_q == number ? w_value_q : registers_q[number];
    endfunction

    always_comb begin
        line = snoop_valid ? snoop_data : line_q;
        word = pc_q[2] ? line[31:0] : line[63:32];
        pc = pc_q;
        line_address = pc_q[22:3];
    end

    always_comb begin
        rd = control.rd;
        rs1_value = operand(control.rs1);
        rs2_value = operand(control.rs2);
        rd_value = operand(control.rd);
        a = rs1_value;
        b = control.has_immediate ? control.immediate : rs2_value;
    end

    lanai_decode decode (
        .word,
        .control
    );

    // --- X: execution

    logic [31:0] alu_value;
    flags_t alu_flags;
    logic holds, happens;

    lanai_alu alu (
        .op(control.op),
        .a,
        .b,
        .carry(flags_q.c),
        .value(alu_value),
        .flags(alu_flags)
    );
    lanai_condition test (
        .condition(control.condition),
        .flags(flags_q),
        .holds
    );

    always_comb begin
        happens = holds || !control.conditional;
        result = alu_value;
        if (control.op == op_select) result = holds ? a : b;
        if (control.set_condition) result = {31'd0, holds};
        result_valid = control.memory ? control.update : happens && !control.branch;
        result_register = control.memory ? control.rs1 : control.rd;
    end

    // --- X: may it issue?

    logic busy, fetch_fault, reads_loaded, waiting, ready, branches, misaligned;

    always_comb begin
        busy = owed_q != '0 || special_q != '0;
        fetch_fault = pc_q[1:0] != '0 || !in_sram(pc_q[31:3]);
        reads_loaded = loading_q != '0 &&
            (control.rs1 == loading_q || control.rs2 == loading_q || (control.store && control.rd == loading_q));
        waiting = reads_loaded && interlock_q != load_use_clocks && !fetch_fault;
        ready = x_valid_q && !halted_q && !busy && !waiting;
        branches = control.branch || (!control.store && control.rd == reg_pc);

        access_address = control.pre ? alu_value : a;
        access_size = control.size;
        misaligned = (access_size == size_word && access_address[1:0] != '0) ||
            (access_size == size_half && access_address[0]);
        access_special = !in_sram(access_address[31:3]);

        trap = trap_none;
        if (ready) begin
            if (fetch_fault) trap = pc_q[1:0] != '0 ? trap_misaligned_fetch : trap_unmapped_fetch;
            else if (control.illegal) trap = trap_illegal_instruction;
            else if (branches && delay_slots_q != '0) trap = trap_branch_in_delay_slot;
            else if (control.memory && misaligned) trap = trap_misaligned_access;
            else if (control.memory && access_special && access_fault) trap = trap_unmapped_access;
        end
        issue = ready && trap == trap_none;
        quiet = reset || halted_q;
    end

    // --- X: the access

    always_comb begin
        access_valid = ready && control.memory && (trap == trap_none || trap == trap_unmapped_access);
        access_write = control.store;
        access_data = rd_value;
        case (access_size)
            size_byte: begin
                access_word = {4{rd_value[7:0]}};
                access_lanes = 4'b1000 >> access_address[1:0];
            end
            size_half: begin
                access_word = {2{rd_value[15:0]}};
                access_lanes = access_address[1] ? 4'b0011 : 4'b1100;
            end
            default: begin
                access_word = rd_value;
                access_lanes = 4'b1111;
            end
        endcase
    end

    // --- X: the bytes that were loaded, of the SRAM's word or at the low end of a register, extended

    logic [1:0] lane;
    logic [7:0] loaded_byte;
    logic [15:0] loaded_half;

    always_comb begin
        lane = access_address[1:0];
        if (access_special) lane = access_size == size_byte ? 2'd3 : 2'd2;
        loaded_byte = read_data[{~lane, 3'd0}+:8];
        loaded_half = lane[1] ? read_data[15:0] : read_data[31:16];
        case (access_size)
            size_byte: loaded = {{24{loaded_byte[7] && !control.zero_extend}}, loaded_byte};
            size_half: loaded = {{16{loaded_half[15] && !control.zero_extend}}, loaded_half};
            default: loaded = read_data;
        endcase
    end

    // --- Slots: what the fetch and the access of the word in X cost, once it issues

    logic [2:0] access_slots;

    always_comb begin
        access_slots = '0;
        if (control.memory && !access_special) begin
            access_slots = load_slots;
            if (control.store) access_slots = access_size == size_word ? word_store_slots : narrow_store_slots;
        end
        slots_wanted = issue ? access_slots + {2'd0, fetched_q} : owed_q;
    end

    // --- F: the word behind the one that issues, from the buffer, from the SRAM, or in part from a store in this clock

    logic advance, loads_pc, same_line, stores_here;
    logic [31:0] second  /*verilator public_flat_rd*/;
    logic [63:0] fetched, stored_mask, stored_data;

    always_comb begin
        advance = issue || (!x_valid_q && !reset);
        loads_pc = w_valid_q && w_register_q == reg_pc;
        second = loads_pc ? w_value_q : second_q;
        same_line = x_valid_q && next_q[31:3] == pc_q[31:3] && (wide_slots || next_q[2] == pc_q[2]);
        fetch_address = next_q[22:3];
        fetch_valid = advance && !same_line && in_sram(next_q[31:3]);

        stores_here = issue && control.store && access_address[31:3] == next_q[31:3];
        stored_mask = {{8{access_lanes[3]}}, {8{access_lanes[2]}}, {8{access_lanes[1]}}, {8{access_lanes[0]}}, 32'd0};
        stored_data = {access_word, access_word};
        if (access_address[2]) stored_mask = stored_mask >> 32;
        fetched = same_line ? line : fetch_data;
        if (stores_here) fetched = (fetched & ~stored_mask) | (stored_data & stored_mask);
    end

    // --- Registers of the pipeline

    always_ff @(posedge clk) begin
        if (trap != trap_none) halted_q <= 1'b1;

        line_q <= advance ? fetched : line;
        second_q <= second;
        if (advance) begin
            x_valid_q <= 1'b1;
            fetched_q <= !same_line;
            pc_q <= next_q;
            next_q <= second;
            second_q <= second + 32'd4;
        end

        owed_q <= slots_wanted - {1'b0, slots_granted};
        if (owed_q == '0 && special_q != '0) special_q <= special_q - 7'd1;
        if (waiting && !busy) interlock_q <= interlock_q + 3'd1;

        w_valid_q <= issue && control.late;
        if (w_valid_q && w_register_q > reg_pc) registers_q[w_register_q] <= w_value_q;

        if (issue) begin
            interlock_q <= '0;
            loading_q <= control.late && control.rd > reg_pc ? control.rd : '0;
            if (control.memory && access_special)
                special_q <= control.store ? register_store_clocks : register_load_clocks;
            if (control.sets_flags && happens) flags_q <= alu_flags;
            if (result_valid && !(control.late && !control.memory) && result_register > reg_pc)
                registers_q[result_register] <= result;

            delay_slots_q <= delay_slots_q == '0 ? '0 : delay_slots_q - 2'd1;
            if (branches) begin
                delay_slots_q <= control.late ? 2'd2 : 2'd1;
                if (!control.late && happens) begin
                    next_q <= result;
                    second_q <= result + 32'd4;
                end
            end

            w_register_q <= control.rd;
            w_value_q <= control.memory ? loaded : result;
        end

        if (reset) begin
            halted_q <= 1'b0;
            x_valid_q <= 1'b0;
            next_q <= entry;
            second_q <= entry + 32'd4;
            delay_slots_q <= '0;
            flags_q <= '0;
            owed_q <= '0;
            special_q <= '0;
            interlock_q <= '0;
            loading_q <= '0;
            w_valid_q <= 1'b0;
            for (int i = 3; i < 32; ++i) registers_q[i] <= '0;
        end
    end

    // --- What must hold: not counted in coverage, since the branch of a failure stops the run.

    // verilator coverage_off
    grants_are_wanted :
    assert property (@(posedge clk) {1'b0, slots_granted} <= slots_wanted)
    else $stop;
    nothing_issues_before_the_slots_of_the_last :
    assert property (@(posedge clk) issue |-> owed_q == '0 && special_q == '0)
    else $stop;
    interlock_waits_in_full :
    assert property (@(posedge clk) issue && reads_loaded |-> interlock_q == load_use_clocks)
    else $stop;
    accesses_are_aligned :
    assert property (@(posedge clk) access_valid |-> !misaligned)
    else $stop;
    fetches_are_inside_the_sram :
    assert property (@(posedge clk) fetch_valid |-> {1'b0, fetch_address} < sram_words)
    else $stop;
    a_jump_has_its_delay_slots :
    assert property (@(posedge clk) loads_pc |-> delay_slots_q != '0)
    else $stop;
    words_follow_each_other :
    assert property (@(posedge clk) disable iff (reset) issue |=> pc_q == $past(next_q))
    else $stop;
    a_stalled_word_stays :
    assert property (@(posedge clk) disable iff (reset) x_valid_q && !issue |=> $stable({pc_q, next_q}))
    else $stop;
    a_trap_has_no_effect :
    assert property (@(posedge clk) trap != trap_none |-> !issue && !fetch_valid)
    else $stop;
    no_access_when_halted :
    assert property (@(posedge clk) halted_q |-> !issue && !access_valid && slots_wanted == '0)
    else $stop;
    quiet_changes_nothing :
    assert property (@(posedge clk) disable iff (reset)
        quiet && !snoop_valid |=> $stable({halted_q, flags_q, x_valid_q, pc_q, next_q, delay_slots_q, line_q, owed_q, special_q}))
    else $stop;
    // verilator coverage_on
endmodule
