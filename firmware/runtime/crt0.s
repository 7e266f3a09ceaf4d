! SPDX-License-Identifier: Apache-2.0
! Where the LANai starts after reset: address 0. Sets up the stack and goes to C++; sp takes only its final value, so the
! simulator's stack check sees no other.
	.section .text._start,"ax",@progbits
	.globl	_start
	.type	_start,@function
_start:
	mov	hi(__stack_top), %r9
	or	%r9, lo(__stack_top), %r9
	add	%r9, 0x0, %sp
	add	%r9, 0x0, %fp
	add	%pc, 0x10, %rca
	st	%rca, [--%sp]
	bt	vinic_start
	nop
.Lhalt:
	bt	.Lhalt
	nop
	.size	_start, . - _start
