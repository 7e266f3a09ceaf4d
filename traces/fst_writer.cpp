// SPDX-License-Identifier: Apache-2.0
#include "traces/fst_writer.h"

#include <fstapi.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hw/sim/error.h"

// fst_io.h
extern "C" {
void vinic_fst_begin(void);
void vinic_fst_wait(void);
int vinic_fst_failure(void);
}

namespace vinic::traces {

namespace {

constexpr int picosecond_timescale = -12;
constexpr auto flush_interval = std::chrono::milliseconds(500);
/// Of changes that the writer holds: what it then walks, signal by signal, is still in the cache. Less would
/// compress worse.
constexpr std::size_t flush_bytes = 2 << 20;
constexpr std::size_t change_bytes = 6;  // of a change beside its value

/// The digits of each byte.
constexpr auto digits_of_byte = [] {
    std::array<std::array<char, 8>, 256> all{};
    for (unsigned byte = 0; byte < 256; ++byte)
        for (unsigned bit = 0; bit < 8; ++bit)
            all[byte][7 - bit] = static_cast<char>('0' + (byte >> bit & 1));
    return all;
}();

class fst_writer : public wave_writer {
public:
    fst_writer(const std::string& path, const wave_view& what)
        : wave_writer(what), path_(path), file_(create(path), &fstWriterClose) {
        if (!file_) throw sim::input_error("{}: cannot be written: {}", path, std::strerror(errno));
        fstWriterSetVersion(file_.get(), "vinic");
        fstWriterSetDate(file_.get(), "");
        fstWriterSetTimescale(file_.get(), picosecond_timescale);
        fstWriterSetPackType(file_.get(), FST_WR_PT_LZ4);
        fstWriterSetParallelMode(file_.get(), 1);
        declare();
    }

protected:
    void enter_scope(const std::string& name) override {
        fstWriterSetScope(file_.get(), FST_ST_VCD_MODULE, name.c_str(), nullptr);
    }
    void leave_scope() override { fstWriterSetUpscope(file_.get()); }

    void declare_signal(std::uint32_t index, const std::string& leaf) override {
        const signal& s = signals()[index];
        const unsigned width = s.what == form::bits ? s.width : 1;
        const fstVarType type = s.what == form::text    ? FST_VT_GEN_STRING
                                : s.what == form::event ? FST_VT_VCD_EVENT
                                                        : FST_VT_VCD_WIRE;
        // GTKWave takes the range from the name.
        const std::string name = width == 1 ? leaf : leaf + " [" + std::to_string(width - 1) + ":0]";
        handles_.push_back(fstWriterCreateVar(file_.get(), type, FST_VD_IMPLICIT,
                                              s.what == form::text ? 0 : width, name.c_str(), 0));
    }
    void declared() override {}

    void put_time(sim::picoseconds at) override {
        fstWriterEmitTimeChange(file_.get(), at);  // writes what it holds, if it was told to flush
        check();
    }

    void put_bits(std::uint32_t index, std::uint64_t bits, std::uint64_t floating) override {
        const unsigned width = signals()[index].width;
        if (width == 1) {
            const char digit = (floating & 1) != 0 ? 'z' : static_cast<char>('0' + (bits & 1));
            return put_digits(index, &digit, 1);
        }
        std::array<char, 64> digits;
        for (unsigned byte = 8 - (width + 7) / 8; byte < 8; ++byte) {
            const unsigned shift = 56 - 8 * byte;
            char* const to = digits.data() + 8 * byte;
            std::memcpy(to, digits_of_byte[bits >> shift & 0xFF].data(), 8);
            if (const std::uint64_t none = floating >> shift & 0xFF; none == 0xFF)
                std::memset(to, 'z', 8);
            else if (none != 0)
                for (unsigned bit = 0; bit < 8; ++bit)
                    if ((none >> bit & 1) != 0) to[7 - bit] = 'z';
        }
        put_digits(index, digits.data() + 64 - width, width);
    }
    void put_text(std::uint32_t index, std::string_view text) override {
        fstWriterEmitVariableLengthValueChange(file_.get(), handles_[index], text.data(),
                                               static_cast<std::uint32_t>(text.size()));
        held_ += change_bytes + text.size();
    }
    void put_event(std::uint32_t index) override { put_digits(index, "1", 1); }

    void flushed() override {
        const auto now = std::chrono::steady_clock::now();
        if (held_ < flush_bytes && now - flushed_at_ < flush_interval) return;
        flushed_at_ = now;
        held_ = 0;
        vinic_fst_wait();
        fstWriterFlushContext(file_.get());
    }
    void finished() override {
        vinic_fst_wait();
        check();
        file_.reset();
        check();
    }

private:
    static void* create(const std::string& path) {
        vinic_fst_begin();
        constexpr int compressed_hierarchy = 1;
        return fstWriterCreate(path.c_str(), compressed_hierarchy);
    }
    /// A file that is not whole stays as far as it is, readable up to a flush. The writer would end it by
    /// what it believes to have written, so it is left alone.
    void check() {
        const int error = vinic_fst_failure();
        if (error == 0) [[likely]]
            return;
        static_cast<void>(file_.release());
        throw sim::input_error("{}: cannot be written: {}", path_, std::strerror(error));
    }
    void put_digits(std::uint32_t index, const char* digits, unsigned width) {
        fstWriterEmitValueChange(file_.get(), handles_[index], digits);
        held_ += change_bytes + width;
    }

    std::string path_;
    std::unique_ptr<void, void (*)(void*)> file_;
    std::vector<fstHandle> handles_;  // by signal
    std::size_t held_ = 0;            // by GTKWave's writer, about
    std::chrono::steady_clock::time_point flushed_at_ = std::chrono::steady_clock::now();
};

}  // namespace

bool fst_is_available() { return true; }

std::unique_ptr<wave_writer> make_fst_writer(const std::string& path, const wave_view& what) {
    return std::make_unique<fst_writer>(path, what);
}

}  // namespace vinic::traces
