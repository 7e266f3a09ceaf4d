// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "firmware/linker/image.h"
#include "testbench/platform/design.h"

namespace vinic::testbench {

/// A folder that goes away with the object.
class temporary_folder {
public:
    temporary_folder();
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// A linked image and what it came from.
struct firmware {
    std::string name;
    std::shared_ptr<temporary_folder> folder;  ///< of an image compiled here; null: it stands elsewhere
    linker::image image;
    std::string sha256;
};

/// Loads the firmware that `what` names: one that ships, a linked image (FILE.elf), or a folder of sources,
/// which is compiled. Throws input_error; `origin` is where it was named.
firmware load_firmware(const located& what);

/// Compiles the C++ and assembly files of a folder as vinic's own firmware is, and links them with its
/// runtime. Compilers write what they have to say on standard error. Throws input_error.
void compile_firmware(const std::filesystem::path& folder, const std::filesystem::path& image,
                      bool allow_other_clang);

}  // namespace vinic::testbench
