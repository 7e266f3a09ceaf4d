// SPDX-License-Identifier: Apache-2.0
// An ELF file opened for reading with libelf. Internal to firmware/linker.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <libelf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "firmware/linker/object.h"

namespace vinic::linker {

class elf_file {
public:
    // `type` is ET_REL or ET_EXEC; `what` names that in messages.
    elf_file(const std::filesystem::path& path, unsigned type, const char* what) : path_(path.string()) {
        elf_version(EV_CURRENT);
        descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor_ < 0) fail(std::strerror(errno));
        elf_ = elf_begin(descriptor_, ELF_C_READ, nullptr);
        if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF) fail_and_close("not an ELF file");
        const Elf32_Ehdr* header = elf32_getehdr(elf_);
        if (header == nullptr || header->e_ident[EI_DATA] != ELFDATA2MSB)
            fail_and_close("not for LANai: ELF must be 32-bit big-endian");
        if (header->e_machine != em_lanai)
            fail_and_close(
                fmt::format("not for LANai: ELF machine is {}, not {}", header->e_machine, em_lanai));
        if (header->e_type != type)
            fail_and_close(fmt::format("ELF type is {}: this is no {}", header->e_type, what));
    }
    ~elf_file() { close(); }
    elf_file(const elf_file&) = delete;
    elf_file& operator=(const elf_file&) = delete;

    Elf* get() const { return elf_; }
    [[noreturn]] void fail(const std::string& why) const {
        throw image_error(fmt::format("{}: {}", path_, why));
    }
    const char* string(std::size_t section, std::size_t offset) const {
        const char* text = elf_strptr(elf_, section, offset);
        return text == nullptr ? "" : text;
    }
    std::size_t section_names() const {
        std::size_t index = 0;
        if (elf_getshdrstrndx(elf_, &index) != 0) fail("has no section names");
        return index;
    }

private:
    void close() {
        if (elf_ != nullptr) elf_end(elf_);
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[noreturn]] void fail_and_close(const std::string& why) {
        close();
        fail(why);
    }

    std::string path_;
    int descriptor_ = -1;
    Elf* elf_ = nullptr;
};

}  // namespace vinic::linker
