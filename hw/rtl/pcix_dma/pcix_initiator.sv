// SPDX-License-Identifier: Apache-2.0
// Initiator of PCI and PCI-X (facts/lanai_pcix.md C1, C2): takes jobs (read or write so many bytes of memory at that
// address), cuts them into bursts, repeats what was retried or disconnected, gathers split completions.
//
// A clock's inputs are the levels in that clock, sampled at its end; outputs are the levels in that clock, true where
// the wire is asserted (low). What follows without a register, follows in the same clock: AD and C/BE# take the width
// from ACK64#, FRAME# rises when `leave` comes.
module pcix_initiator (
    input logic clk,
    input logic reset,

    // Straps and configuration registers.
    input logic        pcix,
    input logic        wide,              // AD has 64 bits
    input logic [12:0] max_burst,         // most bytes of a write, and of a read on PCI
    input logic [ 3:0] boundary_log2,     // no burst crosses a multiple of 2 ** this
    input logic [ 3:0] max_read_log2,     // PCI-X: MMRBC
    input logic [ 5:0] max_splits,        // PCI-X: reads whose completions are awaited
    input logic        write_invalidate,  // PCI
    input logic [ 2:0] line_log2,         // cache line
    input logic [15:0] requester,         // bus, device, function
    input logic [ 9:0] retry_clocks,      // from the clock after STOP# until REQ# may be decided on

    // Jobs go into free slots, as many in a clock as there are engines; of those of one clock the first is the oldest.
    input  logic [ 3:0] job_valid,
    input  logic [ 3:0] job_slot[4],
    input  logic [ 3:0] job_write,
    input  logic [63:0] job_address[4],
    input  logic [23:0] job_bytes[4],
    // The end of one.
    output logic        done,
    output logic [ 3:0] done_slot,
    output logic [ 1:0] done_status,  // 0 done, 1 target abort, 2 master abort, 3 split error

    // The burst that a GNT# of this clock starts.
    output logic        next_valid,
    output logic        next_write,
    output logic [ 3:0] next_slot,
    output logic [23:0] next_offset,
    output logic [12:0] next_bytes,
    output logic [ 3:0] next_command,
    output logic [63:0] next_address,
    output logic [ 4:0] next_tag,

    // What a completion with this tag is for.
    input  logic [ 4:0] query_tag,
    output logic [ 3:0] query_slot,
    output logic [23:0] query_offset,

    // The tenure ended with the last edge.
    output logic        ended,
    output logic [ 2:0] ended_how,   // 0 complete, 1 disconnected, 2 retry, 3 split, 4 target abort, 5 master abort
    output logic [12:0] ended_bytes,

    // Buffers of the jobs: two adjoining words of 8 bytes, the first of them `buffer_word` (-1: before the job's first).
    output logic [  3:0] buffer_slot,
    output logic [ 21:0] buffer_word,
    output logic [ 15:0] buffer_write,
    output logic [127:0] buffer_in,
    input  logic [127:0] buffer_out,

    // The bus.
    output logic        request,     // REQ# is wanted in the next clock
    output logic        req,
    input  logic        gnt,         // GNT# comes: the address phase stands in the next clock
    input  logic        own,         // GNT# was here on the idle bus: the address phase stands in this clock
    input  logic        leave,       // the latency timer has expired and GNT# is gone
    input  logic        rest,        // the target will not take all of this burst
    output logic        frame,
    output logic        irdy,
    output logic        req64,
    output logic        drives_ad,
    output logic [63:0] ad,
    output logic [ 7:0] cbe,
    input  logic        devsel,
    input  logic        trdy,
    input  logic        stop,
    input  logic        ack64,
    input  logic [63:0] ad_in,
    // Driven by a completer.
    input  logic        frame_in,
    input  logic        irdy_in,
    input  logic [ 3:0] cbe_in,

    output logic quiet  // no register changes at the next edge without new input
);
    localparam int unsigned slots = 16;
    localparam int ports = 4;
    localparam int unsigned tags = 32;

    localparam logic [3:0] memory_read = 4'h6;
    localparam logic [3:0] memory_write = 4'h7;
    localparam logic [3:0] read_multiple = 4'hC;
    localparam logic [3:0] split_completion = 4'hC;
    localparam logic [3:0] dual_address = 4'hD;
    localparam logic [3:0] read_line = 4'hE;
    localparam logic [3:0] memory_read_block = 4'hE;
    localparam logic [3:0] write_and_invalidate = 4'hF;
    localparam logic [3:0] memory_write_block = 4'hF;

    localparam logic [2:0] complete = 3'd0;
    localparam logic [2:0] disconnected = 3'd1;
    localparam logic [2:0] retry = 3'd2;
    localparam logic [2:0] split = 3'd3;
    localparam logic [2:0] target_abort = 3'd4;
    localparam logic [2:0] master_abort = 3'd5;

    // --- Jobs and sequences

    logic [slots-1:0] valid_q  /*verilator public_flat_rd*/;
    logic [slots-1:0] write_q;
    logic [slots-1:0][63:0] address_q;
    logic [slots-1:0][23:0] size_q;
    logic [slots-1:0][23:0] next_q;  // so many bytes were asked for
    logic [slots-1:0][5:0] splits_q;
    logic [slots-1:0][9:0] wait_q;  // clocks until a retried burst may be asked for again
    logic [slots-1:0][1:0] status_q;
    logic [slots-1:0][slots-1:0] older_q;  // [a][b]: job a came before job b

    logic [tags-1:0] tag_busy_q;
    logic [tags-1:0][3:0] tag_slot_q;
    logic [tags-1:0][23:0] tag_offset_q;
    logic [tags-1:0][12:0] tag_left_q;
    logic [5:0] outstanding_q  /*verilator public_flat_rd*/;

    // --- The burst at hand

    typedef enum logic [2:0] {
        idle,
        address,
        address_high,
        attribute,
        data,
        surprised  // PCI: the target stopped while FRAME# was asserted
    } state_t;
    state_t state_q  /*verilator public_flat_rd*/;

    logic [3:0] slot_q;
    logic write_burst_q;
    logic [23:0] offset_q;
    logic [12:0] count_q  /*verilator public_flat_rd*/;
    logic [12:0] end_q;  // PCI-X: where it will be disconnected, at most `count_q`
    logic [12:0] moved_q  /*verilator public_flat_rd*/;
    logic [63:0] address_phase_q  /*verilator public_flat_rd*/;
    logic [3:0] command_q;
    logic [4:0] tag_q;
    logic [2:0] decode_q;  // clocks since the address phase
    logic claimed_q;
    logic wide_q;  // ACK64# came with DEVSEL#
    logic leaving_q;
    logic req_q;
    logic [1:0] release_q;
    logic ended_q;
    logic [2:0] ended_how_q;
    logic [12:0] ended_bytes_q;

    logic [slots-1:0] waits;

    always_comb for (int i = 0; i < slots; i++) waits[i] = wait_q[i] != 10'd0;

    // --- Which job next: the oldest that may go. Nothing passes a write that waits.

    logic [slots-1:0] pending, free_to_go, may_go, first;

    always_comb begin
        for (int i = 0; i < slots; i++) begin
            pending[i] = valid_q[i] && next_q[i] != size_q[i];
            free_to_go[i] = !waits[i] && (!pcix || write_q[i] || outstanding_q < max_splits);
            may_go[i] = pending[i] && free_to_go[i];
            for (int j = 0; j < slots; j++)
                if (older_q[j][i] && write_q[j] && valid_q[j] && next_q[j] != size_q[j]) may_go[i] = 1'b0;
        end
        for (int i = 0; i < slots; i++) begin
            first[i] = may_go[i];
            for (int j = 0; j < slots; j++) if (older_q[j][i] && may_go[j]) first[i] = 1'b0;
        end
    end

    // --- How much of it: a burst ends at the boundary, at its limit, and in whole cache lines

    logic [63:0] at;
    logic [23:0] left;
    logic [12:0] to_boundary, limit, up_to, line_mask;
    logic whole_lines, one_dword, one_word;

    always_comb begin
        next_valid = first != '0;
        next_slot = '0;
        for (int i = 0; i < slots; i++) if (first[i]) next_slot = i[3:0];
        next_write = write_q[next_slot];
        next_offset = next_q[next_slot];
        at = address_q[next_slot] + {40'd0, next_offset};
        left = size_q[next_slot] - next_offset;
        to_boundary = (13'd1 << boundary_log2) - (at[12:0] & ((13'd1 << boundary_log2) - 13'd1));
        limit = pcix && !next_write ? 13'd1 << max_read_log2 : max_burst;
        up_to = limit < to_boundary ? limit : to_boundary;
        if (left < {11'd0, up_to}) up_to = left[12:0];

        line_mask = (13'd1 << line_log2) - 13'd1;
        whole_lines = !pcix && next_write && write_invalidate && (at[12:0] & line_mask) == 13'd0 && up_to > line_mask;
        next_bytes = whole_lines ? up_to & ~line_mask : up_to;
        next_address = at;
        one_dword = {11'd0, at[1:0]} + next_bytes <= 13'd4;
        one_word = wide ? {10'd0, at[2:0]} + next_bytes <= 13'd8 : one_dword;
        if (pcix && next_write) next_command = one_word ? memory_write : memory_write_block;
        else if (pcix) next_command = one_dword ? memory_read : memory_read_block;
        else if (next_write) next_command = whole_lines ? write_and_invalidate : memory_write;
        else if (one_word) next_command = memory_read;
        else if ((at[12:0] & line_mask) + next_bytes <= line_mask + 13'd1) next_command = read_line;
        else next_command = read_multiple;

        next_tag = '0;
        for (int t = tags - 1; t >= 0; t--) if (!tag_busy_q[t]) next_tag = t[4:0];
    end

    // --- REQ#: from when something is left to ask for, beside the burst at hand, until GNT#

    logic granted, busy, job_may_go;
    logic [slots-1:0] later, may_go_later;

    always_comb begin
        granted = (gnt || own) && next_valid;
        busy = state_q != idle && state_q != surprised;
        for (int i = 0; i < slots; i++) begin
            later[i] = pending[i] || (busy && rest && slot_q == i[3:0]);
            if (granted && next_slot == i[3:0]) later[i] = rest || left != {11'd0, next_bytes};
        end
        for (int i = 0; i < slots; i++) begin
            may_go_later[i] = later[i] && free_to_go[i];
            for (int j = 0; j < slots; j++) if (older_q[j][i] && later[j] && write_q[j]) may_go_later[i] = 1'b0;
        end
        job_may_go = (job_valid & (pcix && outstanding_q >= max_splits ? job_write : '1)) != '0 && (later & write_q) == '0;
        request = may_go_later != '0 || job_may_go || (req_q && !gnt && !own);
        req = req_q && release_q == 2'd0;
    end

    // --- A data phase: `lane` is its first byte, `bytes` how many move, if the target is as wide as it says

    logic start, asks_wide, is_wide, dword_command, last_clock;
    logic [63:0] address_now;
    logic [3:0] command_now;
    logic [12:0] left_now, end_now, to_adb, adb_end;
    logic [2:0] at_now;
    logic [6:0] word_in_adb;
    logic [2:0] lane;
    logic [3:0] width, bytes;
    logic last_phase, line_ends;

    always_comb begin
        start = own && next_valid;
        address_now = start ? next_address : address_phase_q;
        command_now = start ? next_command : command_q;
        left_now = start ? next_bytes : count_q;
        dword_command = pcix && command_now == memory_read;
        asks_wide = wide && !dword_command && {11'd0, address_now[1:0]} + left_now > 13'd4;

        last_clock = decode_q == (pcix ? 3'd6 : 3'd4);
        // Until a target has claimed the burst, it may be a narrow one.
        is_wide = asks_wide && (devsel || claimed_q || trdy ? ack64 || wide_q : last_clock);
        width = is_wide ? 4'd8 : 4'd4;
        at_now = address_phase_q[2:0] + moved_q[2:0];
        lane = is_wide ? at_now : {1'b0, at_now[1:0]};
    end

    // PCI-X: the first boundary at least four data phases away (the initiator leaves), or the next one (STOP#).
    always_comb begin
        word_in_adb = address_phase_q[6:0] + moved_q[6:0] - {4'd0, lane};
        to_adb = 13'd128 - {6'd0, word_in_adb};
        if (!stop && to_adb < {7'd0, width, 2'd0}) to_adb = to_adb + 13'd128;
        adb_end = moved_q + to_adb - {10'd0, lane};
        end_now = end_q;
        if (pcix && trdy && (stop || (leave && !leaving_q)) && adb_end < end_q) end_now = adb_end;

        line_ends = ((address_phase_q[12:0] + moved_q - {10'd0, lane} + {9'd0, width}) & line_mask) == 13'd0;
        last_phase = {10'd0, lane} + end_now - moved_q <= {9'd0, width};
        if (!pcix && leave && (command_q != write_and_invalidate || line_ends)) last_phase = 1'b1;
        bytes = width - {1'b0, lane};
        if (end_now - moved_q < {9'd0, bytes}) bytes = 4'(end_now - moved_q);
    end

    // --- How a clock of data ends

    logic nobody, aborts, splits, retries, takes, ends;
    logic [2:0] how;
    logic [12:0] moved_then;

    always_comb begin
        nobody = !devsel && !claimed_q && !trdy && !stop && last_clock;
        aborts = stop && !devsel && !trdy;
        splits = pcix && trdy && !devsel && !stop;
        retries = stop && devsel && !trdy && moved_q == 13'd0;
        takes = state_q == data && trdy && !splits;
        moved_then = takes ? moved_q + {9'd0, bytes} : moved_q;
        ends = nobody || aborts || splits || (stop && !trdy) || (takes && (last_phase || (pcix ? !devsel : stop)));
        if (nobody) how = master_abort;
        else if (aborts) how = target_abort;
        else if (splits) how = split;
        else if (retries) how = retry;
        else how = moved_then == count_q ? complete : disconnected;
        ended = ended_q;
        ended_how = ended_how_q;
        ended_bytes = ended_bytes_q;
    end

    // --- A split completion: address phase, attributes, data

    logic receive_attributes_q, receive_data_q, bus_was_idle_q, error_q;
    logic [4:0] receive_tag_q;
    logic [2:0] receive_at_q;
    logic begins, receives, receives_last;
    logic [2:0] receive_lane;
    logic [3:0] receive_bytes;
    logic [12:0] receive_left;

    always_comb begin
        begins = pcix && bus_was_idle_q && frame_in && cbe_in == split_completion && ad_in[23:8] == requester;
        receives = receive_data_q && irdy_in && trdy;
        receive_lane = ack64 ? receive_at_q : {1'b0, receive_at_q[1:0]};
        receive_bytes = (ack64 ? 4'd8 : 4'd4) - {1'b0, receive_lane};
        receive_left = tag_left_q[receive_tag_q];
        if (receive_left < {9'd0, receive_bytes}) receive_bytes = receive_left[3:0];
        receives_last = receives && (error_q || receive_left == {9'd0, receive_bytes});
        query_slot = tag_slot_q[query_tag];
        query_offset = tag_offset_q[query_tag];
    end

    // --- Buffers: a word of the bus lies in two words of the buffer, `turn` bytes further

    logic [24:0] word_offset;  // of lane 0, in the job
    logic [2:0] turn;
    logic [3:0] data_lane, data_bytes;
    logic [7:0] lanes;

    always_comb begin
        data_lane = receive_data_q ? {1'b0, receive_lane} : {1'b0, lane};
        data_bytes = receive_data_q ? receive_bytes : bytes;
        word_offset = receive_data_q ? {1'b0, tag_offset_q[receive_tag_q]} : {1'b0, offset_q} + {12'd0, moved_q};
        word_offset = word_offset - {21'd0, data_lane};
        turn = word_offset[2:0];
        for (int i = 0; i < 8; i++) lanes[i] = i[3:0] >= data_lane && i[3:0] < data_lane + data_bytes;
        buffer_slot = receive_data_q ? tag_slot_q[receive_tag_q] : slot_q;
        buffer_word = word_offset[24:3];
        buffer_write = '0;
        if ((takes && !write_burst_q) || (receives && !error_q)) buffer_write = {8'd0, lanes} << turn;
        buffer_in = {64'd0, ad_in} << {turn, 3'd0};
    end

    // --- The wires

    logic dual, second, block_command;
    logic [11:0] attribute_count;
    logic [63:0] data_out;

    always_comb begin
        irdy = state_q == data || state_q == surprised;
        frame = start || state_q == address || state_q == address_high || state_q == attribute ||
                (state_q == data && !last_phase);
        req64 = asks_wide && frame;
        dual = address_now[63:32] != 32'd0;
        second = state_q == address_high;
        block_command = pcix && command_q[3];
        attribute_count = count_q[11:0];
        data_out = 64'(buffer_out >> {turn, 3'd0});
        drives_ad = 1'b1;
        ad = '0;
        cbe = '1;
        if (start || state_q == address || second) begin
            ad[31:0] = second ? address_now[63:32] : address_now[31:0];
            cbe[3:0] = dual && !second ? dual_address : command_now;
            if (asks_wide) begin
                ad[63:32] = address_now[63:32];
                cbe[7:4] = dual && !second ? command_now : 4'd0;
            end
        end else if (state_q == attribute) begin
            ad[31:0] = {3'd0, tag_q, requester, attribute_count[7:0]};
            cbe[3:0] = attribute_count[11:8];
        end else if (state_q == data) begin
            drives_ad = write_burst_q;
            if (!block_command) cbe = ~lanes;
            for (int i = 0; i < 8; i++) if (lanes[i]) ad[8*i+:8] = data_out[8*i+:8];
        end else begin
            drives_ad = 1'b0;
        end
    end

    // --- Registers

    always_comb begin
        done = 1'b0;
        done_slot = '0;
        for (int i = 0; i < slots; i++) begin
            if (valid_q[i] && next_q[i] == size_q[i] && splits_q[i] == 6'd0 &&
                !(busy && slot_q == i[3:0])) begin
                done = 1'b1;
                done_slot = i[3:0];
            end
        end
        done_status = status_q[done_slot];
        quiet = state_q == idle && !reset && job_valid == '0 && !gnt && !own && waits == '0 && request == req_q &&
                release_q == 2'd0 && !ended_q && !done && !frame_in && !irdy_in && bus_was_idle_q &&
                !receive_attributes_q && !receive_data_q;
    end

    always_ff @(posedge clk) begin
        req_q <= request;
        ended_q <= 1'b0;
        bus_was_idle_q <= !frame_in && !irdy_in;
        if (release_q != 2'd0) release_q <= release_q - 2'd1;
        for (int i = 0; i < slots; i++) if (waits[i]) wait_q[i] <= wait_q[i] - 10'd1;
        if (done) valid_q[done_slot] <= 1'b0;

        for (int p = 0; p < ports; p++) begin
            if (job_valid[p]) begin
                valid_q[job_slot[p]] <= 1'b1;
                write_q[job_slot[p]] <= job_write[p];
                address_q[job_slot[p]] <= job_address[p];
                size_q[job_slot[p]] <= job_bytes[p];
                next_q[job_slot[p]] <= '0;
                status_q[job_slot[p]] <= '0;
                for (int i = 0; i < slots; i++) older_q[i][job_slot[p]] <= valid_q[i];
                older_q[job_slot[p]] <= '0;
                for (int o = 0; o < p; o++) if (job_valid[o]) older_q[job_slot[o]][job_slot[p]] <= 1'b1;
            end
        end

        if (granted) begin
            slot_q <= next_slot;
            write_burst_q <= next_write;
            offset_q <= next_offset;
            count_q <= next_bytes;
            end_q <= next_bytes;
            moved_q <= '0;
            address_phase_q <= next_address;
            command_q <= next_command;
            tag_q <= next_tag;
            claimed_q <= 1'b0;
            wide_q <= 1'b0;
            leaving_q <= 1'b0;
            next_q[next_slot] <= next_offset + {11'd0, next_bytes};
        end

        unique case (state_q)
            idle: begin
                if (granted) state_q <= own ? (dual ? address_high : pcix ? attribute : data) : address;
                decode_q <= 3'd1;
            end
            address: begin
                state_q  <= dual ? address_high : pcix ? attribute : data;
                decode_q <= 3'd1;
            end
            address_high: state_q <= pcix ? attribute : data;
            attribute: begin
                state_q  <= data;
                decode_q <= 3'd2;
            end
            data: begin
                if (!last_clock) decode_q <= decode_q + 3'd1;
                if (devsel) claimed_q <= 1'b1;
                if (devsel && ack64) wide_q <= 1'b1;
                if (leave && trdy) leaving_q <= 1'b1;
                end_q   <= end_now;
                moved_q <= moved_then;
                if (ends) begin
                    state_q <= !pcix && frame ? surprised : idle;
                    ended_q <= 1'b1;
                    ended_how_q <= how;
                    ended_bytes_q <= moved_then;
                    if (!pcix && stop && request) release_q <= 2'd2;
                    unique case (how)
                        retry: begin
                            next_q[slot_q] <= offset_q;
                            wait_q[slot_q] <= retry_clocks;
                        end
                        split: begin
                            splits_q[slot_q] <= splits_q[slot_q] + 6'd1;
                            outstanding_q <= outstanding_q + 6'd1;
                            tag_busy_q[tag_q] <= 1'b1;
                            tag_slot_q[tag_q] <= slot_q;
                            tag_offset_q[tag_q] <= offset_q;
                            tag_left_q[tag_q] <= count_q;
                        end
                        target_abort, master_abort: begin
                            next_q[slot_q] <= size_q[slot_q];
                            if (status_q[slot_q] == 2'd0) status_q[slot_q] <= how == target_abort ? 2'd1 : 2'd2;
                        end
                        default: next_q[slot_q] <= offset_q + {11'd0, moved_then};
                    endcase
                end
            end
            default: state_q <= idle;
        endcase

        receive_attributes_q <= begins;
        if (begins) begin
            receive_tag_q <= ad_in[28:24];
            receive_at_q  <= ad_in[2:0];
        end
        if (receive_attributes_q) begin
            receive_data_q <= 1'b1;
            error_q <= ad_in[30];
        end
        if (receive_data_q && !irdy_in && !frame_in) receive_data_q <= 1'b0;
        if (receives) begin
            receive_at_q <= receive_at_q + receive_bytes[2:0];
            tag_offset_q[receive_tag_q] <= tag_offset_q[receive_tag_q] + {20'd0, receive_bytes};
            tag_left_q[receive_tag_q] <= receive_left - {9'd0, receive_bytes};
            if (receives_last) begin
                tag_busy_q[receive_tag_q] <= 1'b0;
                splits_q[buffer_slot] <= splits_q[buffer_slot] - 6'd1;
                outstanding_q <= outstanding_q - 6'd1;
            end
            if (error_q) begin
                next_q[buffer_slot] <= size_q[buffer_slot];
                if (status_q[buffer_slot] == 2'd0) status_q[buffer_slot] <= 2'd3;
            end
        end

        if (reset) begin
            state_q <= idle;
            valid_q <= '0;
            splits_q <= '0;
            wait_q <= '0;
            tag_busy_q <= '0;
            outstanding_q <= '0;
            req_q <= 1'b0;
            release_q <= '0;
            ended_q <= 1'b0;
            bus_was_idle_q <= 1'b1;
            receive_attributes_q <= 1'b0;
            receive_data_q <= 1'b0;
        end
    end

    // --- What must hold: not counted in coverage, since the branch of a failure stops the run.

    // verilator coverage_off
    logic slot_in_use, job_without_bytes;
    always_comb begin
        slot_in_use = 1'b0;
        job_without_bytes = 1'b0;
        for (int p = 0; p < ports; p++) begin
            slot_in_use |= job_valid[p] && valid_q[job_slot[p]];
            job_without_bytes |= job_valid[p] && job_bytes[p] == '0;
            for (int o = 0; o < p; o++) slot_in_use |= job_valid[p] && job_valid[o] && job_slot[p] == job_slot[o];
        end
    end
    free_slots :
    assert property (@(posedge clk) !slot_in_use)
    else $stop;
    jobs_have_bytes :
    assert property (@(posedge clk) !job_without_bytes)
    else $stop;
    ports_in_turn :
    assert property (@(posedge clk) (job_valid & (job_valid + 4'd1)) == '0)
    else $stop;
    grant_on_an_idle_bus :
    assert property (@(posedge clk) !((gnt || own) && state_q != idle && state_q != surprised))
    else $stop;
    grant_answers_a_request :
    assert property (@(posedge clk) !((gnt || own) && !req_q))
    else $stop;
    no_more_splits_than_allowed :
    assert property (@(posedge clk) outstanding_q <= max_splits)
    else $stop;
    inside_the_boundary :
    assert property (@(posedge clk) granted |-> next_bytes != '0 && next_bytes <= to_boundary)
    else $stop;
    initiator_is_ready_until_the_end :
    assert property (@(posedge clk) disable iff (reset) irdy && !(ended_q) && !ends && state_q == data |=> irdy)
    else $stop;
    frame_does_not_fall_again :
    assert property (@(posedge clk) disable iff (reset) irdy && !frame |=> !(irdy && frame))
    else $stop;
    completion_is_awaited :
    assert property (@(posedge clk) !(begins && !tag_busy_q[ad_in[28:24]]))
    else $stop;
    no_completion_in_a_burst :
    assert property (@(posedge clk) !(receive_data_q && state_q != idle))
    else $stop;
    quiet_changes_nothing :
    assert property (@(posedge clk)
        quiet |=> $stable({state_q, valid_q, next_q, splits_q, wait_q, tag_busy_q, outstanding_q, req_q, release_q}))
    else $stop;
    // verilator coverage_on
endmodule
