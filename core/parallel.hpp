#pragma once
// Threads for one call: no pool outlives it, so fork is safe. Work is handed out in chunks of rows; a kernel writes
// each row's answer to that row's own place, so the bytes do not depend on who did what.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace neardup {

// Threads that are joined when they go out of scope, also after an exception. As std::jthread, which the C++ library of macOS
// does not have.
struct JoinedThreads {
    std::vector<std::thread> threads;

    JoinedThreads() = default;
    JoinedThreads(const JoinedThreads&) = delete;
    JoinedThreads& operator=(const JoinedThreads&) = delete;
    ~JoinedThreads() { join(); }

    void join() {
        for (auto& thread : threads) thread.join();
        threads.clear();
    }
};

// Calls body(own, begin, end) for chunks that cover [0, rows), on `threads` threads, this one among them. Each thread has
// what make() returns, such as buffers, for all its chunks. The first exception thrown is rethrown here once all threads
// have stopped.
template <class Make, class Body>
void in_parallel_with(std::size_t rows, unsigned threads, std::size_t chunk, Make make, Body body) {
    chunk = std::max<std::size_t>(chunk, 1);
    const std::size_t chunks = (rows + chunk - 1) / chunk;
    const auto workers = static_cast<unsigned>(std::min<std::size_t>(std::max(threads, 1u), chunks));
    if (workers == 0) return;
    if (workers == 1) {
        auto own = make();
        for (std::size_t begin = 0; begin < rows; begin += chunk)
            body(own, begin, std::min(rows, begin + chunk));
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    auto work = [&] {
        try {
            auto own = make();
            for (std::size_t i; (i = next.fetch_add(1)) < chunks;)
                body(own, i * chunk, std::min(rows, (i + 1) * chunk));
        } catch (...) {
            next.store(chunks);
            const std::lock_guard lock(guard);
            if (!failure) failure = std::current_exception();
        }
    };
    JoinedThreads others;
    others.threads.reserve(workers - 1);
    for (unsigned i = 1; i < workers; ++i) others.threads.emplace_back(work);
    work();
    others.join();
    if (failure) std::rethrow_exception(failure);
}

// The same with body(begin, end), where a thread needs nothing of its own.
template <class Body>
void in_parallel(std::size_t rows, unsigned threads, std::size_t chunk, Body body) {
    struct Nothing {};
    in_parallel_with(
        rows, threads, chunk, [] { return Nothing{}; },
        [&body](Nothing, std::size_t begin, std::size_t end) { body(begin, end); });
}

}  // namespace neardup
