// SPDX-License-Identifier: Apache-2.0

// kernel_agent: protection tags, registration of memory.
#include <utility>

#include "host_driver/kernel_agent.h"
#include "hw/host/memory.h"

namespace vinic::driver {

namespace {

// abi::myvia::handle_region_bits: region + 1 in the low half, the generation above it.
std::uint32_t handle_of(std::uint32_t region_id) { return region_id + 1; }
std::uint32_t region_id_of(std::uint32_t handle) { return handle - 1; }

std::uint32_t pages_of(host::virtual_address address, std::uint64_t length) {
    const host::virtual_address end = (address + length + host::page_mask) & ~host::page_mask;
    return static_cast<std::uint32_t>((end - (address & ~host::page_mask)) / host::page_bytes);
}

}  // namespace

// --- Protection tags ------------------------------------------------------------------------------------

status kernel_agent::create_tag(host::process& on, const std::shared_ptr<instance>& nic,
                                protection_tag& made) {
    on.compute(tag_clocks);
    if (tags_.full()) return status::error_resource;
    const auto fresh = std::make_shared<tag>();
    fresh->owner = nic;
    made = tags_.insert(fresh);
    fresh->on_card = nic->null_tag_allowed ? nic->default_tag : made;
    return status::success;
}

status kernel_agent::destroy_tag(host::process& on, const std::shared_ptr<instance>& nic,
                                 protection_tag which) {
    on.compute(tag_clocks);
    const std::shared_ptr<tag> found = tags_.find(which);
    if (!found || found->owner != nic) return status::invalid_parameter;
    if (found->uses > 0) return status::error_resource;
    tags_.erase(which);
    return status::success;
}

std::shared_ptr<tag> kernel_agent::tag_of(const instance& nic, protection_tag which) const {
    const std::shared_ptr<tag> found =
        tags_.find(which == 0 && nic.null_tag_allowed ? nic.default_tag : which);
    return found && found->owner->process == nic.process ? found : nullptr;
}

protection_tag kernel_agent::use_tag(const instance& nic, protection_tag which) {
    const std::shared_ptr<tag> found = tag_of(nic, which);
    ++found->uses;
    return found->on_card;
}

void kernel_agent::release_tag(const instance& nic, protection_tag which) {
    if (const std::shared_ptr<tag> found = tag_of(nic, which)) --found->uses;
}

// --- Memory ---------------------------------------------------------------------------------------------

status kernel_agent::check(const instance& nic, const memory_attributes& a) const {
    if (!tag_of(nic, a.tag)) return status::invalid_ptag;
    if (a.rdma_read && card_.limits().rdma_read_mask == 0) return status::invalid_rdmaread;
    return status::success;
}

std::shared_ptr<region> kernel_agent::region_of(const instance& nic, host::virtual_address address,
                                                std::uint32_t handle) const {
    if (handle == 0) return nullptr;
    const std::shared_ptr<region> found = regions_.find(region_id_of(handle));
    return found && found->owner.get() == &nic && found->address == address ? found : nullptr;
}

status kernel_agent::register_memory(host::process& on, const std::shared_ptr<instance>& nic,
                                     host::virtual_address address, std::uint64_t length,
                                     const memory_attributes& attributes, std::uint32_t& handle) {
    on.compute(register_clocks);
    host::user_memory& space = *nic->process->space;
    if (length == 0) return status::invalid_parameter;
    if (length > region_mbytes_max.get() << 20) return status::error_resource;
    if (!space.valid(address, length)) return status::invalid_parameter;
    if (const status s = check(*nic, attributes); s != status::success) return s;
    const std::uint32_t pages = pages_of(address, length);
    if (regions_.full()) return status::error_resource;
    const auto first_page = pages_.allocate(pages);
    if (!first_page) return status::error_resource;

    const auto fresh = std::make_shared<region>();
    const std::uint32_t id = regions_.insert(fresh);
    *fresh = {.owner = nic,
              .address = address,
              .length = length,
              .attributes = attributes,
              .first_page = *first_page};
    on.compute(pages * register_page_clocks);
    const host::virtual_address begin = address & ~host::page_mask;
    for (std::uint32_t i = 0; i < pages; ++i) {
        const host::physical_address frame =
            space.translate(begin + std::uint64_t{i} * host::page_bytes) & ~host::page_mask;
        cpu_.ram().pin(frame);
        fresh->frames.push_back(frame);
        card_.set_page(*first_page + i, frame);
    }
    use_tag(*nic, attributes.tag);
    if (const status s = card_.set_region(on, region_setup_of(id, *fresh)); s != status::success) {
        free_region(on, id);
        return s;
    }
    registrations.add();
    handle = handle_of(id);
    return status::success;
}

region_setup kernel_agent::region_setup_of(std::uint32_t id, const region& which) const {
    region_setup setup{.region = handle_table<region>::index_of(id),
                       .handle = handle_of(id),
                       .address = which.address,
                       .length = which.length,
                       .first_page = which.first_page,
                       .attributes = which.attributes};
    setup.attributes.tag = tag_of(*which.owner, which.attributes.tag)->on_card;
    return setup;
}

status kernel_agent::deregister_memory(host::process& on, const std::shared_ptr<instance>& nic,
                                       host::virtual_address address, std::uint32_t handle) {
    on.compute(deregister_clocks);
    if (!region_of(*nic, address, handle)) return status::invalid_parameter;
    free_region(on, region_id_of(handle));
    return status::success;
}

// The card forgets the region before its pages may be used for something else.
void kernel_agent::free_region(host::process& on, std::uint32_t id) {
    const std::shared_ptr<region> which = regions_.find(id);
    card_.clear_region(on, handle_table<region>::index_of(id));
    on.compute(which->frames.size() * deregister_page_clocks);
    for (const host::physical_address frame : which->frames) cpu_.ram().unpin(frame);
    pages_.release(which->first_page, static_cast<std::uint32_t>(which->frames.size()));
    release_tag(*which->owner, which->attributes.tag);
    regions_.erase(id);
}

status kernel_agent::set_memory(host::process& on, const std::shared_ptr<instance>& nic,
                                host::virtual_address address, std::uint32_t handle,
                                const memory_attributes& attributes) {
    on.compute(query_clocks);
    const std::shared_ptr<region> which = region_of(*nic, address, handle);
    if (!which) return status::invalid_parameter;
    if (const status s = check(*nic, attributes); s != status::success) return s;
    const memory_attributes before = std::exchange(which->attributes, attributes);
    use_tag(*nic, attributes.tag);
    release_tag(*nic, before.tag);
    return card_.set_region(on, region_setup_of(region_id_of(handle), *which));
}

status kernel_agent::query_memory(host::process& on, const std::shared_ptr<instance>& nic,
                                  host::virtual_address address, std::uint32_t handle,
                                  memory_attributes& attributes) {
    on.compute(query_clocks);
    const std::shared_ptr<region> which = region_of(*nic, address, handle);
    if (!which) return status::invalid_parameter;
    attributes = which->attributes;
    return status::success;
}

}  // namespace vinic::driver
