#include "runner/selftest/corpus.h"

namespace assay::runner {

std::span<const CorpusEntry> Corpus() {
  using enum MeetsFault;
  static const std::vector<CorpusEntry> corpus = {
      {Fault::kRoutingBit31, kAnswers, "", {"crashed"}},
      {Fault::kUncheckedBit31,
       kAnswers,
       "gpqa_score",
       {"crashed", "hang", "gpqa_score", "gpqa_changed_answers", "seeded_answers", "V6_failed_samples"}},
      {Fault::kPaddingNan,
       kAnswers,
       "gpqa_score",
       {"gpqa_score", "gpqa_changed_answers", "seeded_answers", "V6_failed_samples"}},
      {Fault::kSwappedMxScales, kAnswers, "gpqa_score", {"gpqa_score", "gpqa_changed_answers"}},
      {Fault::kDroppedSinks, kAnswers, "gpqa_score", {"gpqa_score", "gpqa_changed_answers"}},
      {Fault::kWindowOffByOne, kAnswers, "gpqa_score", {"gpqa_score", "gpqa_changed_answers"}},
      {Fault::kRopeTruncation, kAnswers, "gpqa_score", {"gpqa_score", "gpqa_changed_answers"}},
      {Fault::kMissingExpertBias, kAnswers, "gpqa_score", {"gpqa_score", "gpqa_changed_answers"}},
      {Fault::kTop3, kAnswers, "gpqa_score", {"gpqa_score", "gpqa_changed_answers"}},
      {Fault::kNoSwigluLimit, kAnswers, "gpqa_score", {"gpqa_score", "gpqa_changed_answers"}},
      {Fault::kPrefixCollision,
       kAnswers,
       "gpqa_score",
       {"gpqa_score", "gpqa_changed_answers", "seeded_answers"}},
      {Fault::kKvReuse, kAnswers, "gpqa_score", {"gpqa_score", "gpqa_changed_answers", "seeded_answers"}},
      {Fault::kStopIgnored, kAnswers, "gpqa_score", {"gpqa_cut_share", "gpqa_score", "gpqa_changed_answers"}},
      {Fault::kSeedIgnored, kAnswers, "seeded_answers", {"seeded_answers"}},
      {Fault::kSlowStep, kSpeed, "tpot_p50_ms", {"tpot_p50_ms", "output_throughput_tok_s"}},
      {Fault::kSlowTtft, kSpeed, "ttft_p50_ms", {"ttft_p50_ms"}},
      {Fault::kStall, kSpeed, "itl_max_ms", {"itl_max_ms"}},
      {Fault::kLeak, kSpeed, "server_memory_mb", {"server_memory_mb"}},
      {Fault::kCrash, kAnswers, "", {"crashed"}},
      {Fault::kHang, kAnswers, "", {"hang"}},
      {Fault::kTruncation,
       kAnswers,
       "gpqa_score",
       {"gpqa_score", "gpqa_changed_answers", "V2_output_length"}},
      {Fault::kStreamError, kSpeed, "", {"V6_completed"}},
      {Fault::kWrongModel, kAnswers, "", {"wrong_model"}},
  };
  return corpus;
}

}  // namespace assay::runner
