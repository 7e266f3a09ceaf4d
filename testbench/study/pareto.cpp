// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vinic::testbench::study {

bool dominates(const costs& a, const costs& b) {
    bool better = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] > b[i]) return false;
        better |= a[i] < b[i];
    }
    return better;
}

std::vector<std::size_t> front_of(const std::vector<costs>& all) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::ranges::all_of(all[i], [](double cost) { return std::isfinite(cost); })) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const costs& { return all[i]; });
    std::vector<std::size_t> front;  // whoever dominates another one stands before it in that order
    for (const std::size_t i : order)
        if (std::ranges::none_of(front, [&](std::size_t best) { return dominates(all[best], all[i]); }))
            front.push_back(i);
    std::ranges::sort(front);
    return front;
}

std::vector<std::size_t> ranks_of(const std::vector<costs>& all) {
    std::vector<std::size_t> dominators(all.size(), 0), ranks(all.size(), 0);
    std::vector<std::vector<std::size_t>> dominated(all.size());
    for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = 0; b < all.size(); ++b)
            if (dominates(all[a], all[b])) {
                dominated[a].push_back(b);
                ++dominators[b];
            }
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (dominators[i] == 0) front.push_back(i);
    for (std::size_t rank = 0; !front.empty(); ++rank) {
        std::vector<std::size_t> next;
        for (const std::size_t a : front) {
            ranks[a] = rank;
            for (const std::size_t b : dominated[a])
                if (--dominators[b] == 0) next.push_back(b);
        }
        front = std::move(next);
    }
    return ranks;
}

std::vector<double> crowding_of(const std::vector<costs>& all, const std::vector<std::size_t>& ranks) {
    std::vector<double> crowding(all.size(), 0);
    const std::size_t last = all.empty() ? 0 : *std::ranges::max_element(ranks);
    for (std::size_t rank = 0; rank <= last; ++rank) {
        std::vector<std::size_t> front;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (ranks[i] == rank) front.push_back(i);
        for (std::size_t goal = 0; !front.empty() && goal < all.front().size(); ++goal) {
            std::ranges::stable_sort(front, {}, [&](std::size_t i) { return all[i][goal]; });
            const double extent = all[front.back()][goal] - all[front.front()][goal];
            crowding[front.front()] = crowding[front.back()] = std::numeric_limits<double>::infinity();
            if (!(extent > 0) || !std::isfinite(extent)) continue;
            for (std::size_t i = 1; i + 1 < front.size(); ++i)
                crowding[front[i]] += (all[front[i + 1]][goal] - all[front[i - 1]][goal]) / extent;
        }
    }
    return crowding;
}

}  // namespace vinic::testbench::study
