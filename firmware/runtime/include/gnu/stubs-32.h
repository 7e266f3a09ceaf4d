// SPDX-License-Identifier: Apache-2.0
// Empty on purpose: glibc headers ask for it on a 32-bit target, and there is no glibc on the card.
