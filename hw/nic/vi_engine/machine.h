// SPDX-License-Identifier: Apache-2.0
// State machines of the engine, written as the sequence of their steps: a co_await is a state in which the
// machine waits for clocks (sequencer.h) or for something to change.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace vinic::nic {

/// A machine that runs as long as its owner lives. Starts at once, up to its first wait.
class machine {
public:
    struct promise_type {
        machine get_return_object() {
            return machine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        [[noreturn]] void unhandled_exception() { throw; }
    };

    machine(machine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    machine& operator=(machine&&) = delete;
    ~machine() {
        if (handle_) handle_.destroy();
    }

private:
    explicit machine(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_;
};

/// A part of a machine's way that gives a result: co_await it.
template <typename T>
class [[nodiscard]] step {
public:
    struct promise_type {
        std::coroutine_handle<> caller;
        std::optional<T> value;
        std::exception_ptr failure;

        step get_return_object() { return step(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct back {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
                return h.promise().caller;
            }
            void await_resume() noexcept {}
        };
        back final_suspend() noexcept { return {}; }
        void return_value(T result) { value = std::move(result); }
        void unhandled_exception() { failure = std::current_exception(); }
    };

    step(step&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    step& operator=(step&&) = delete;
    ~step() {
        if (handle_) handle_.destroy();
    }

    bool await_ready() const { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        handle_.promise().caller = caller;
        return handle_;
    }
    T await_resume() {
        if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
        return std::move(*handle_.promise().value);
    }

private:
    explicit step(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_;
};

}  // namespace vinic::nic
