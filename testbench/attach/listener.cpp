// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/listener.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

namespace {

/// How long a program may take from connecting to speaking.
constexpr int hello_ms = 1000;

void answer(const listener::caller& who, const attach::welcome& text, const int* descriptors,
            std::size_t count) {
    attach::welcome sent = text;
    iovec piece{.iov_base = &sent, .iov_len = sizeof sent};
    alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (count != 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        cmsghdr* const rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        std::memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
    }
    sendmsg(who.socket, &message, MSG_NOSIGNAL);
    close(who.socket);
}

}  // namespace

listener::listener(std::string path) : path_(std::move(path)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (path_.size() >= sizeof address.sun_path)
        throw sim::input_error("socket {}: its path is longer than {} bytes", path_,
                               sizeof address.sun_path - 1);
    std::copy(path_.begin(), path_.end(), address.sun_path);
    socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto* const where = reinterpret_cast<const sockaddr*>(&address);
    if (connect(socket_, where, sizeof address) == 0) {
        close(socket_);
        throw sim::input_error("socket {}: another simulator listens there", path_);
    }
    const int errno_of_connect = errno;
    std::error_code none;
    const bool there = std::filesystem::exists(std::filesystem::symlink_status(path_, none));
    if (there && !std::filesystem::is_socket(path_, none)) {
        close(socket_);
        throw sim::input_error("socket {}: there is a file of that name, which is no socket", path_);
    }
    if (errno_of_connect == ECONNREFUSED && there && unlink(path_.c_str()) == 0)
        fmt::print(stderr, "vinic: socket {}: replaced one that an earlier simulator left behind\n", path_);
    if (bind(socket_, where, sizeof address) != 0 || listen(socket_, 128) != 0) {
        const int reason = errno;
        close(socket_);
        throw sim::input_error("socket {}: {}", path_, std::strerror(reason));
    }
}

listener::~listener() {
    close(socket_);
    unlink(path_.c_str());
}

bool listener::accept(caller& who) {
    who.socket = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (who.socket < 0) return false;
    ucred credentials{};
    socklen_t size = sizeof credentials;
    getsockopt(who.socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
    who.process = credentials.pid;
    pollfd waiting{.fd = who.socket, .events = POLLIN, .revents = 0};
    const ssize_t got =
        poll(&waiting, 1, hello_ms) == 1 ? recv(who.socket, &who.said, sizeof who.said, 0) : 0;
    // All versions begin like this.
    constexpr ssize_t least = offsetof(attach::hello, version) + sizeof who.said.version;
    if (got < least || who.said.magic != attach::magic) {
        refuse(who, "the simulator does not understand this program");
        return false;
    }
    if (who.said.version == attach::protocol_version) return true;
    refuse(who,
           fmt::format("the program's libvipl speaks version {}, the simulator version {}: use the libvipl "
                       "that comes with this vinic",
                       who.said.version, attach::protocol_version));
    return false;
}

void listener::refuse(const caller& who, const std::string& why) {
    attach::welcome text{.accepted = 0, .text = {}};
    why.copy(text.text, sizeof text.text - 1);
    answer(who, text, nullptr, 0);
}

void listener::welcome(const caller& who, int region, int doorbell, int window) {
    const int descriptors[] = {region, doorbell, window};
    answer(who, {.accepted = 1, .text = {}}, descriptors, 3);
}

}  // namespace vinic::testbench
