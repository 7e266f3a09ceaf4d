// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "testbench/report/json.h"

namespace vinic::testbench {

/// A Chromium without a window, driven by Debian's chromedriver as WebDriver (W3C) says. Elements are named
/// by CSS selectors. Everything throws std::runtime_error with what the driver answered.
class browser {
public:
    static bool is_installed();

    /// `scratch`: where its profile goes.
    explicit browser(const std::filesystem::path& scratch);
    ~browser();
    browser(const browser&) = delete;
    browser& operator=(const browser&) = delete;

    void open(const std::filesystem::path& page);
    /// The value of a script's `return`.
    json run(const std::string& script);
    void click(const std::string& element);
    /// At a place in an element, in pixels from its corner.
    void click_at(const std::string& element, double x, double y);
    void type(const std::string& element, const std::string& text);
    void clear(const std::string& element);
    /// Keys for whatever has the focus; "\uE00C" is Escape (WebDriver, 17.4.2).
    void press(const std::string& key);
    /// What the page would see of a reader who prefers that: "prefers-color-scheme" -> "dark".
    void prefer(const std::string& feature, const std::string& value);
    /// What the page has said on the console since the last call, warnings and errors.
    json console();
    /// PNG of the window, or PDF of the page on paper.
    void write_picture(const std::filesystem::path& to);
    void write_paper(const std::filesystem::path& to);

private:
    json ask(const std::string& method, const std::string& path, const json& body) const;
    json session(const std::string& path, const json& body) { return ask("POST", session_ + path, body); }
    std::string find(const std::string& element);

    pid_t driver_ = -1;
    int output_ = -1;  ///< of the driver, which would fall if nobody held it
    int port_ = 0;
    std::string session_;
};

}  // namespace vinic::testbench
