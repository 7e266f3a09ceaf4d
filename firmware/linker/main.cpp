// SPDX-License-Identifier: Apache-2.0
// lanai_link: links LANai objects into a firmware image.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "firmware/linker/linker.h"

int main(int argc, char** argv) {
    CLI::App app("Links LANai object files into one firmware image.", "lanai_link");
    app.footer("Example: lanai_link -o myvia.elf --stack 8192 crt0.o myvia.o runtime.o");
    std::vector<std::filesystem::path> inputs;
    std::filesystem::path output;
    vinic::linker::link_options options;
    app.add_option("objects", inputs, "object files; the first definition of an inline function counts")
        ->required();
    app.add_option("-o,--output", output, "image to write")->required();
    app.add_option("--entry", options.entry, "symbol at address 0, where the LANai starts")
        ->capture_default_str();
    app.add_option("--memory", options.memory_bytes, "bytes that the image may take")->capture_default_str();
    app.add_option("--stack", options.stack_bytes, "bytes of stack behind .bss")->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    try {
        vinic::linker::link(inputs, output, options);
    } catch (const vinic::linker::image_error& e) {
        std::fprintf(stderr, "lanai_link: %s\n", e.what());
        return 2;
    }
    return 0;
}
