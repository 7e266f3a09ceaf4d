// SPDX-License-Identifier: Apache-2.0
#include "traces/fst_reader.h"

#include <fstapi.h>

#include <memory>
#include <vector>

#include "hw/sim/error.h"

namespace vinic::traces {

namespace {

using changed_function = std::function<void(std::uint64_t at, std::size_t signal, std::string_view value)>;

/// Signals are numbered as they are declared, from 1; vinic declares none twice.
std::size_t number_of(fstHandle handle) { return handle - 1; }

void declare(void* file, const std::function<void(const std::string& name)>& declared) {
    std::vector<std::string> scopes{""};
    while (const fstHier* h = fstReaderIterateHier(file)) {
        if (h->htyp == FST_HT_SCOPE) scopes.push_back(scopes.back() + h->u.scope.name + ".");
        if (h->htyp == FST_HT_UPSCOPE && scopes.size() > 1) scopes.pop_back();
        if (h->htyp == FST_HT_VAR && !h->u.var.is_alias) declared(scopes.back() + h->u.var.name);
    }
}

}  // namespace

void read_fst(const std::string& path, const std::function<void(const std::string& name)>& declared,
              const changed_function& changed) {
    const std::unique_ptr<void, void (*)(void*)> file(fstReaderOpen(path.c_str()), &fstReaderClose);
    if (!file)
        throw sim::input_error(
            "{}: GTKWave's reader does not open it: cut off, or without its .hier beside it", path);
    declare(file.get(), declared);
    fstReaderSetFacProcessMaskAll(file.get());
    fstReaderIterBlocks2(
        file.get(),
        [](void* to, std::uint64_t at, fstHandle handle, const unsigned char* value) {
            (*static_cast<const changed_function*>(to))(at, number_of(handle),
                                                        reinterpret_cast<const char*>(value));
        },
        [](void* to, std::uint64_t at, fstHandle handle, const unsigned char* value, std::uint32_t length) {
            (*static_cast<const changed_function*>(to))(at, number_of(handle),
                                                        {reinterpret_cast<const char*>(value), length});
        },
        const_cast<void*>(static_cast<const void*>(&changed)), nullptr);
}

}  // namespace vinic::traces
