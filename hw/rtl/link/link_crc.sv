// SPDX-License-Identifier: Apache-2.0
// The link's checksums, a byte at a time (facts/lanai_pcix.md B6; hw/link/crc.h).
package link_crc;

    // x^8+x^2+x+1, most significant bit first.
    function automatic logic [7:0] crc8(input logic [7:0] crc, input logic [7:0] data);
        logic [7:0] c;
        c = crc ^ data;
        for (int i = 0; i < 8; i++) c = {c[6:0], 1'b0} ^ (c[7] ? 8'h07 : 8'h00);
        return c;
    endfunction

    // IEEE 802.3, reflected; starts as all ones and is inverted at the end.
    function automatic logic [31:0] crc32(input logic [31:0] crc, input logic [7:0] data);
        logic [31:0] c;
        c = crc ^ {24'd0, data};
        for (int i = 0; i < 8; i++) c = {1'b0, c[31:1]} ^ (c[0] ? 32'hEDB88320 : 32'd0);
        return c;
    endfunction

endpackage
