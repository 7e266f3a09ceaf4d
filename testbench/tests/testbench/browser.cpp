// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/testbench/browser.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <signal.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace vinic::testbench {

namespace {

/// A descriptor that is closed with its scope.
struct descriptor {
    int number;
    ~descriptor() { ::close(number); }
};

std::string read_line(int from) {
    std::string line;
    for (char c; ::read(from, &c, 1) == 1 && (line += c, c != '\n');) continue;
    return line;
}

/// The body of an answer of HTTP, which is as long as its head says: chromedriver keeps connections open.
std::string read_body(int from) {
    std::size_t length = 0;
    for (std::string line = read_line(from); line != "\r\n"; line = read_line(from)) {
        if (line.empty()) throw std::runtime_error("chromedriver does not answer");
        static const std::string key = "content-length:";
        if (::strncasecmp(line.c_str(), key.c_str(), key.size()) == 0)
            length = std::stoul(line.substr(key.size()));
    }
    std::string body(length, '\0');
    for (std::size_t done = 0; done < length;) {
        const ssize_t n = ::read(from, body.data() + done, length - done);
        if (n <= 0) throw std::runtime_error("chromedriver does not answer");
        done += static_cast<std::size_t>(n);
    }
    return body;
}

std::string base64(const std::string& text) {
    std::string bytes;
    unsigned bits = 0;
    int held = 0;
    for (const char c : text) {
        static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const auto digit = digits.find(c);
        if (digit == std::string::npos) break;
        bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xffffff;
        if ((held += 6) < 8) continue;
        held -= 8;
        bytes += static_cast<char>(bits >> held & 0xff);
    }
    return bytes;
}

void write_bytes(const std::filesystem::path& to, const std::string& encoded) {
    std::ofstream(to, std::ios::binary) << base64(encoded);
}

}  // namespace

bool browser::is_installed() {
    return std::system("command -v chromium > /dev/null && command -v chromedriver > /dev/null") == 0;
}

browser::browser(const std::filesystem::path& scratch) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    driver_ = ::fork();
    if (driver_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        ::setenv("HOME", scratch.c_str(), 1);
        ::execlp("chromedriver", "chromedriver", "--port=0", nullptr);
        ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
    const std::string mark = "successfully on port ";
    for (std::string line; port_ == 0;) {
        line = read_line(output_);
        if (line.empty()) throw std::runtime_error("chromedriver did not start");
        if (const std::size_t at = line.find(mark); at != std::string::npos)
            port_ = std::atoi(line.c_str() + at + mark.size());
    }
    const json options{{"args",
                        {"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1280,1000", "--user-data-dir=" + (scratch / "profile").string()}}};
    const json wanted{{"goog:chromeOptions", options}, {"goog:loggingPrefs", {{"browser", "WARNING"}}}};
    session_ =
        "/session/" + ask("POST", "/session", {{"capabilities", {{"alwaysMatch", wanted}}}})["sessionId"]
                          .get<std::string>();
}

browser::~browser() {
    try {
        if (!session_.empty()) ask("DELETE", session_, nullptr);
    } catch (const std::exception&) {  // it is killed anyway
    }
    ::kill(driver_, SIGTERM);
    ::waitpid(driver_, nullptr, 0);
    ::close(output_);
}

json browser::ask(const std::string& method, const std::string& path, const json& body) const {
    const descriptor connection{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(port_))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(connection.number, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
        throw std::runtime_error("chromedriver is gone");
    const timeval patience{.tv_sec = 120};
    ::setsockopt(connection.number, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const std::string text = body.is_null() ? "" : body.dump();
    const std::string request = fmt::format(
        "{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n\r\n{}",
        method, path, text.size(), text);
    for (std::size_t sent = 0; sent < request.size();) {
        const ssize_t n =
            ::send(connection.number, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) throw std::runtime_error("chromedriver is gone");
        sent += static_cast<std::size_t>(n);
    }
    const json value = json::parse(read_body(connection.number))["value"];
    if (value.is_object() && value.contains("error"))
        throw std::runtime_error(fmt::format("{}: {}", path, value["message"].get<std::string>()));
    return value;
}

std::string browser::find(const std::string& element) {
    const json found = session("/element", {{"using", "css selector"}, {"value", element}});
    return "/element/" + found.begin().value().get<std::string>();
}

void browser::open(const std::filesystem::path& page) {
    session("/url", {{"url", "file://" + std::filesystem::absolute(page).string()}});
}

json browser::run(const std::string& script) {
    return session("/execute/sync", {{"script", script}, {"args", json::array()}});
}

void browser::click(const std::string& element) { session(find(element) + "/click", json::object()); }

void browser::click_at(const std::string& element, double x, double y) {
    const json corner = run("const e = document.querySelector(`" + element +
                            "`); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); "
                            "return [r.left, r.top];");
    const json move{{"type", "pointerMove"},
                    {"duration", 0},
                    {"x", static_cast<int>(corner[0].get<double>() + x)},
                    {"y", static_cast<int>(corner[1].get<double>() + y)}};
    const json down{{"type", "pointerDown"}, {"button", 0}}, up{{"type", "pointerUp"}, {"button", 0}};
    session("/actions",
            {{"actions", {{{"type", "pointer"}, {"id", "mouse"}, {"actions", {move, down, up}}}}}});
}

void browser::type(const std::string& element, const std::string& text) {
    session(find(element) + "/value", {{"text", text}});
}

void browser::clear(const std::string& element) { session(find(element) + "/clear", json::object()); }

void browser::press(const std::string& key) {
    const json down{{"type", "keyDown"}, {"value", key}}, up{{"type", "keyUp"}, {"value", key}};
    session("/actions", {{"actions", {{{"type", "key"}, {"id", "keys"}, {"actions", {down, up}}}}}});
}

void browser::prefer(const std::string& feature, const std::string& value) {
    session("/goog/cdp/execute", {{"cmd", "Emulation.setEmulatedMedia"},
                                  {"params", {{"features", {{{"name", feature}, {"value", value}}}}}}});
}

json browser::console() { return session("/se/log", {{"type", "browser"}}); }

void browser::write_picture(const std::filesystem::path& to) {
    write_bytes(to, ask("GET", session_ + "/screenshot", nullptr).get<std::string>());
}

void browser::write_paper(const std::filesystem::path& to) {
    write_bytes(to, session("/print", json::object()).get<std::string>());
}

}  // namespace vinic::testbench
