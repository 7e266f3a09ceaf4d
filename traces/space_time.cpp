// SPDX-License-Identifier: Apache-2.0
#include "traces/space_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace vinic::traces {

namespace {

// Pixels.
constexpr double margin_left = 168, margin_right = 32, lane_top = 92, lane_height = 74, chart_width = 1400;
constexpr double bar_height = 30, beside_height = 9;
constexpr double glyph_width = 6.3;  // of the small type, on average
constexpr std::size_t lanes = lane_names.size();

constexpr std::array<const char*, 9> part_colours{"#5b7fa6", "#6d9dc5", "#3f8f8a", "#5faa5a", "#c2a23a",
                                                  "#b5651d", "#a8527a", "#7d62a8", "#4d6d94"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return out;
}

/// 1, 2 or 5 times a power of ten, so that five to fourteen of them are `span`.
sim::picoseconds tick_of(sim::picoseconds span) {
    const double rough = static_cast<double>(span) / 14;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double step : {1.0, 2.0, 5.0})
        if (step * power >= rough) return static_cast<sim::picoseconds>(step * power);
    return static_cast<sim::picoseconds>(10 * power);
}

std::string short_name(const stage& s) {
    if (s.what == activity::firmware) return "firmware";
    const std::string whole = name_of(s);
    return whole.substr(whole.find(": ") + 2);
}

class drawing {
public:
    drawing(const message_anatomy& m, const std::string& title) : m_(m), title_(title) {}

    std::string svg() {
        head();
        grid();
        for (const interval& i : m_.beside) bar(i, true);
        for (const interval& i : m_.path) bar(i, false);
        arrows();
        labels();
        legend();
        return text_ + "</svg>\n";
    }

private:
    template <typename... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        text_ += fmt::format(format, std::forward<Args>(args)...);
    }
    double x(sim::picoseconds t) const {
        return margin_left +
               chart_width * static_cast<double>(t - m_.begin()) / static_cast<double>(m_.latency());
    }
    static double middle(lane of) { return lane_top + lane_height * (static_cast<double>(of) + 0.5); }
    static double bottom() { return lane_top + lane_height * static_cast<double>(lanes); }

    void head() {
        const double width = margin_left + chart_width + margin_right, height = bottom() + 84;
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" viewBox=\"0 0 "
            "{:.0f} "
            "{:.0f}\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n",
            width, height, width, height);
        add("<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
            "markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0.6 L8,4 L0,7.4 z\" fill=\"#333\"/></marker>"
            "<pattern id=\"waits\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#fff\" "
            "fill-opacity=\"0.55\"/>"
            "<rect width=\"2\" height=\"6\" fill=\"#000\" fill-opacity=\"0.16\"/></pattern></defs>\n");
        add("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
        add("<text x=\"{:.0f}\" y=\"34\" font-size=\"20\" fill=\"#222\">{}</text>\n", margin_left,
            escaped(title_));
        add("<text x=\"{:.0f}\" y=\"57\" font-size=\"13\" fill=\"#555\">{} to {}, {} bytes: {:.3f} us from "
            "VipPostSend to VipRecvDone</text>\n",
            margin_left, m_.sender, m_.receiver, m_.bytes, static_cast<double>(m_.latency()) / 1e6);
    }

    void grid() {
        const auto name = [&](std::size_t n) {
            const std::string& card = n < lanes / 2 ? m_.sender : m_.receiver;
            const std::string node = card.substr(0, card.find('.'));
            return n == lanes / 2 ? std::string("wire") : fmt::format("{} {}", node, lane_names[n]);
        };
        for (std::size_t n = 0; n < lanes; ++n) {
            const double top = lane_top + lane_height * static_cast<double>(n);
            const char* fill = n == lanes / 2 ? "#fdf6ec" : n % 2 ? "#f4f6f8" : "#fafbfc";
            add("<rect x=\"0\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", top,
                margin_left + chart_width + margin_right, lane_height, fill);
            add("<text x=\"{:.0f}\" y=\"{:.1f}\" font-size=\"13\" text-anchor=\"end\" "
                "fill=\"#333\">{}</text>\n",
                margin_left - 14, top + lane_height / 2 + 5, name(n));
        }
        const sim::picoseconds tick = tick_of(m_.latency());
        for (sim::picoseconds t = 0; t <= m_.latency(); t += tick) {
            const double at = x(m_.begin() + t);
            add("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#d7dce2\"/>\n",
                at, lane_top - 8, bottom());
            add("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" text-anchor=\"middle\" fill=\"#666\">{:g} "
                "us</text>\n",
                at, lane_top - 13, static_cast<double>(t) / 1e6);
        }
    }

    void bar(const interval& i, bool beside) {
        const double height = beside ? beside_height : bar_height;
        const double top = middle(lane_of(i.what)) + (beside ? bar_height / 2 + 4 : -bar_height / 2);
        const double from = x(std::max(i.begin, m_.begin())), until = x(std::min(i.end, m_.end()));
        const auto box = [&](const char* fill, const char* more) {
            add("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" rx=\"2\" fill=\"{}\"{}>",
                from, top, std::max(until - from, 0.8), height, fill, more);
        };
        box(part_colours[static_cast<std::size_t>(i.what.part)], beside ? " fill-opacity=\"0.45\"" : "");
        add("<title>{}: {:.3f} ns</title></rect>\n", escaped(name_of(i.what)),
            static_cast<double>(i.length()) / 1e3);
        if (beside) beside_label(i, from, until, top + 8);
        if (!is_wait(i.what)) return;
        box("url(#waits)", " pointer-events=\"none\"");
        add("</rect>\n");
    }

    /// Behind the bar, or before it where the chart ends; none for one that is hardly to be seen.
    void beside_label(const interval& i, double from, double until, double y) {
        constexpr double least_width = 6, glyph = 5.4, gap = 4;
        if (until - from < least_width) return;
        const std::string text =
            fmt::format("{} {:.0f} ns", short_name(i.what), static_cast<double>(i.length()) / 1e3);
        const bool behind = until + glyph * static_cast<double>(text.size()) < margin_left + chart_width;
        add("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"9.5\" text-anchor=\"{}\" fill=\"#666\">{}</text>\n",
            behind ? until + gap : from - gap, y, behind ? "start" : "end", escaped(text));
    }

    void arrows() {
        for (std::size_t n = 1; n < m_.path.size(); ++n) {
            const lane from = lane_of(m_.path[n - 1].what), to = lane_of(m_.path[n].what);
            if (from == to) continue;
            const double down = to > from ? 1 : -1, at = x(m_.path[n].begin);
            add("<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#333\" "
                "stroke-width=\"1.1\" marker-end=\"url(#tip)\"/>\n",
                at, middle(from) + down * bar_height / 2, middle(to) - down * (bar_height / 2 + 1));
        }
    }

    /// Runs of bars of one part in one lane share a label: inside when there is room, with the time.
    void labels() {
        for (std::size_t n = 0; n < m_.path.size();) {
            std::size_t end = n + 1;
            const interval& first = m_.path[n];
            while (end < m_.path.size() && m_.path[end].what.part == first.what.part &&
                   lane_of(m_.path[end].what) == lane_of(first.what) &&
                   is_wait(m_.path[end].what) == is_wait(first.what))
                ++end;
            label(first, m_.path[end - 1], end - n == 1);
            n = end;
        }
    }

    void label(const interval& first, const interval& last, bool alone) {
        const double from = x(first.begin), until = x(last.end), width = until - from;
        const std::string time = fmt::format("{:.0f} ns", static_cast<double>(last.end - first.begin) / 1e3);
        const std::string what = alone ? short_name(first.what)
                                       : journey_names[static_cast<std::size_t>(first.what.part)] +
                                             std::string(is_wait(first.what) ? ": waits" : "");
        const double y = middle(lane_of(first.what));
        const auto write = [&](double at_y, const std::string& text, const char* colour) {
            add("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10.5\" text-anchor=\"middle\" "
                "fill=\"{}\">{}</text>\n",
                (from + until) / 2, at_y, colour, escaped(text));
        };
        const auto fits = [&](const std::string& text) {
            return static_cast<double>(text.size()) * glyph_width < width;
        };
        const char* inside = is_wait(first.what) ? "#222" : "#fff";
        if (fits(what + " " + time)) return write(y + 4, what + " " + time, inside);
        if (fits(time)) write(y + 4, time, inside);
        if (fits(what)) write(y - bar_height / 2 - 5, what, "#444");
    }

    void legend() {
        double at = margin_left;
        const double y = bottom() + 24;
        for (std::size_t n = 0; n < part_colours.size(); ++n) {
            add("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"14\" height=\"14\" rx=\"2\" fill=\"{}\"/>\n", at, y,
                part_colours[n]);
            add("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"12\" fill=\"#333\">{}</text>\n", at + 20,
                y + 11.5, journey_names[n]);
            at += 44 + 8 * static_cast<double>(std::string_view(journey_names[n]).size());
        }
        add("<rect x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"14\" height=\"14\" rx=\"2\" fill=\"#889\"/><rect "
            "x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"14\" height=\"14\" rx=\"2\" fill=\"url(#waits)\"/>\n",
            at, y);
        add("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"12\" fill=\"#333\">hatched: waits</text>\n", at + 20,
            y + 11.5);
        add("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"12\" fill=\"#333\">thin: meanwhile, off the "
            "path</text>\n",
            at + 140, y + 11.5);
    }

    const message_anatomy& m_;
    const std::string& title_;
    std::string text_;
};

}  // namespace

std::string space_time_diagram(const message_anatomy& m, const std::string& title) {
    return drawing(m, title).svg();
}

}  // namespace vinic::traces
