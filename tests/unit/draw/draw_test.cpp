// Numbers to pixels and words, and texts that must not run into each other.
#include <cmath>
#include <random>

#include "draw/heat_map.h"
#include "draw/scale.h"
#include "draw/svg.h"
#include "support/catch.h"
#include "support/svg_texts.h"

namespace semicrf {
namespace {

TEST_CASE("scales map their ends to their ends, and what lies beyond to the edge") {
  const Scale linear{10, 20, 100, 300, false};
  CHECK(linear.at(10) == 100);
  CHECK(linear.at(15) == 200);
  CHECK(linear.at(99) == 300);
  const Scale logarithmic{1, 100, 0, 50, true};
  CHECK(std::fabs(logarithmic.at(10) - 25) < 1e-12);
  CHECK(logarithmic.at(0) == 0);
  const Scale upwards{0, 1, 80, 20, false};
  CHECK(upwards.at(0.5) == 50);
}

TEST_CASE("ticks are round, evenly spaced and few") {
  CHECK(nice_ticks(0, 1, 6) == std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1});
  CHECK(nice_ticks(90360, 120360, 7) == std::vector<double>{95000, 100000, 105000, 110000, 115000, 120000});
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(-1e6, 1e6), width(-3, 6);
  for (int i = 0; i < 2000; ++i) {
    const double low = place(random), high = low + std::pow(10, width(random));
    const int most = 4 + i % 7;
    const std::vector<double> ticks = nice_ticks(low, high, most);
    INFO(low << " " << high << " " << most);
    REQUIRE(ticks.size() <= static_cast<std::size_t>(most));
    REQUIRE(!ticks.empty());
    for (std::size_t k = 0; k < ticks.size(); ++k) {
      CHECK((ticks[k] >= low - 1e-6 && ticks[k] <= high + 1e-6));
      if (k > 0) CHECK(ticks[k] > ticks[k - 1]);
    }
  }
  CHECK(log_ticks(3, 3000, 5) == std::vector<double>{10, 100, 1000});
  CHECK(log_ticks(12, 70, 5) == std::vector<double>{20, 50});
  CHECK(nice_ceiling(0.31) == 0.4);
  CHECK(nice_ceiling(0) == 1);
}

TEST_CASE("growing classes hold every whole number once") {
  for (const long long last : {1LL, 2LL, 5LL, 26LL, 27LL, 100LL, 1500LL, 123456LL}) {
    const std::vector<long long> edges = growing_classes(last, 26);
    INFO(last);
    CHECK(edges.front() == 1);
    CHECK(edges.back() > last);
    CHECK(edges.size() <= 27);
    for (std::size_t i = 1; i < edges.size(); ++i) CHECK(edges[i] > edges[i - 1]);
    if (last <= 26) CHECK(edges.back() == last + 1);
  }
}

TEST_CASE("markup is escaped, and what is no UTF-8 is replaced") {
  CHECK(markup_escaped("<a href=\"x\" o='1'>&") == "&lt;a href=&quot;x&quot; o=&#39;1&#39;&gt;&amp;");
  CHECK(markup_escaped(std::string("a\0b\tc\x1f\x7f", 7)) == "a b c  ");
  CHECK(markup_escaped("\xc3\xa9\xe4\xb8\xad\xf0\x9f\xa7\xac") == "\xc3\xa9\xe4\xb8\xad\xf0\x9f\xa7\xac");
  const std::string bad = "\xef\xbf\xbd";
  CHECK(markup_escaped("\xff") == bad);
  CHECK(markup_escaped("\xc3") == bad);
  CHECK(markup_escaped("\xc0\x80") == bad + bad);            // too long a form
  CHECK(markup_escaped("\xed\xa0\x80") == bad + bad + bad);  // half of a pair
  CHECK(markup_escaped("\xef\xbf\xbe") == bad + bad + bad);  // U+FFFE
}

TEST_CASE("texts are cut where they do not fit, between characters") {
  CHECK(text_width("") == 0);
  CHECK(text_width("MMMM") > text_width("iiii"));
  CHECK(fitted("short", 100) == "short");
  const std::string name = "a very long name of a label \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";
  for (int width = 0; width < 260; width += 3) {
    const std::string cut = fitted(name, width);
    CHECK(text_width(cut) <= width);
    CHECK(markup_escaped(cut).find("\xef\xbf\xbd") == std::string::npos);
  }
}

TEST_CASE("numbers for people") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(-1234567) == "-1,234,567");
  CHECK(share_text(0.2414) == "24.1 %");
  CHECK(share_text(0.0004) == "<0.1 %");
  CHECK(share_text(1) == "100 %");
  CHECK(share_text(0) == "0.0 %");
  CHECK(bases_text(0) == "0 bp");
  CHECK(bases_text(870) == "870 bp");
  CHECK(bases_text(1250) == "1.25 kb");
  CHECK(bases_text(999800) == "1 Mb");
  CHECK(bases_text(134452384) == "134 Mb");
  CHECK(place_text("chr1", 1000, 2000) == "chr1:1,001-2,000");
}

TEST_CASE("no two texts of a heat map touch") {
  for (const std::size_t columns : {1U, 3U, 12U, 13U, 40U})
    for (const bool is_long : {false, true}) {
      HeatMap map;
      map.title = "Title of the map";
      map.column_title = "columns";
      map.scale = HeatScale::kSigned;
      for (std::size_t c = 0; c < columns; ++c)
        map.columns.push_back((is_long ? "a rather long name " : "E") + std::to_string(c + 1));
      for (int r = 0; r < 5; ++r) {
        map.rows.push_back((is_long ? "another long name of a label, " : "E") + std::to_string(r + 1));
        map.row_marks.emplace_back(Rgb{1, 2, 3});
        for (std::size_t c = 0; c < columns; ++c)
          map.values.emplace_back(static_cast<double>(c) * 123.456 - 50);
      }
      const Drawing drawing = draw_heat_map(map);
      INFO(columns << (is_long ? " long" : " short"));
      CHECK(overlapping_texts(drawing).empty());
    }
}

}  // namespace
}  // namespace semicrf
