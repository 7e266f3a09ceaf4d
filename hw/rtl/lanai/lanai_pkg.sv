// SPDX-License-Identifier: Apache-2.0
// What the parts of the LANai core say to each other.
package lanai_pkg;
    localparam logic [4:0] reg_pc = 5'd2;

    // In the order of the OP fields of RI and RR (facts/lanai_pcix.md A4), then those with a code of their own.
    typedef enum logic [3:0] {
        op_add,
        op_addc,
        op_sub,
        op_subb,
        op_and,
        op_or,
        op_xor,
        op_shift_logical,
        op_shift_arithmetic,
        op_select,
        op_popc,
        op_leadz,
        op_trailz
    } operation_t;

    typedef enum logic [1:0] {
        size_byte,
        size_half,
        size_word
    } size_t;

    typedef struct packed {
        logic n;
        logic z;
        logic v;
        logic c;
    } flags_t;

    // An instruction as the execute stage sees it: rs1 op (rs2 or immediate) is the result, the target of a branch, or
    // the address (pre) and new base (update) of an access.
    typedef struct packed {
        logic illegal;
        operation_t op;
        logic [3:0] condition;
        logic conditional;  // happens only if the condition holds
        logic set_condition;  // SCC: the result is the condition
        logic sets_flags;
        logic [4:0] rd;  // 0: none
        logic [4:0] rs1;
        logic [4:0] rs2;
        logic has_immediate;
        logic [31:0] immediate;
        logic branch;  // BR, BRR
        logic memory;
        logic store;
        logic pre;
        logic update;
        size_t size;
        logic zero_extend;
        logic late;  // the result comes a stage later: loads and SLI (A4, A7)
    } control_t;

    // Why the core stops before an instruction, in the order of lanai::trap_kind from 1 on.
    typedef enum logic [2:0] {
        trap_none = 3'd0,
        trap_illegal_instruction = 3'd1,
        trap_misaligned_access = 3'd2,
        trap_unmapped_access = 3'd3,
        trap_misaligned_fetch = 3'd4,
        trap_unmapped_fetch = 3'd5,
        trap_branch_in_delay_slot = 3'd7
    } trap_t;
endpackage
