#include "reports/chinese.h"

namespace assay::reports {
namespace {

constexpr Phrase kPhrases[] = {
    // Headlines
    {"FAIL: {}", "FAIL（失败）：{}"},
    {"NO BASELINE: {}", "NO BASELINE（缺少基线）：{}"},
    {"INVALID: the measurement cannot be judged: {}", "INVALID（无效）：测量无法用于判定：{}"},
    {"INFRASTRUCTURE: not measured, worth one retry: {}",
     "INFRASTRUCTURE（基础设施）：未能测量，可重试一次：{}"},
    {"INCONCLUSIVE: not enough data to decide: {}", "INCONCLUSIVE（无法判定）：数据不足：{}"},
    {"PASS: {}", "PASS（通过）：{}"},
    {"INTERRUPTED: stopped before the end; what was measured is kept and nothing of it is a verdict",
     "INTERRUPTED（中断）：在结束前被中止；已测得的数据予以保留，但不构成任何结论"},
    {"nothing was judged, for want of a threshold and a baseline", "没有门限也没有基线，因此未判定任何项目"},
    {"nothing passes", "没有检查通过"},
    {"{} check passes", "{} 项检查通过"},
    {"{} checks pass", "{} 项检查通过"},
    {"{} inconclusive", "{} 项无法判定"},
    {"{} acknowledged", "{} 项已确认"},
    {"{} workaround can go", "{} 个临时规避方案可以移除"},
    {"{} workarounds can go", "{} 个临时规避方案可以移除"},
    {"{} improved", "{} 项有提升"},
    {"first run here: recorded, not compared, see the notes", "本机首次运行：已记录，未作对比，见备注"},
    {"{} and {} more", "{} 等，另有 {} 项"},
    {"{} against the threshold", "{} 未达门限"},
    {"{} points against the baseline", "{} 分（对比基线）"},
    {"{} near chance", "{} 接近随机猜测"},
    {"no {} baseline", "缺少 {} 基线"},

    // Scores
    {"score {} is below {}: the model guesses (one in four is chance)",
     "得分 {} 低于 {}：模型在随机猜测（四选一随机为四分之一）"},
    {"score {} is above {}, so the model does not guess", "得分 {} 高于 {}，模型并非随机猜测"},
    {"score {} reaches the limit ({}; Wilson 95 % {} to {})",
     "得分 {} 达到门限（{}；Wilson 95 % 区间 {} 至 {}）"},
    {"score {} is below the limit ({}; Wilson 95 % {} to {})",
     "得分 {} 低于门限（{}；Wilson 95 % 区间 {} 至 {}）"},
    {"score {} is not shown to be below the limit ({}; Wilson 95 % {} to {})",
     "没有证据表明得分 {} 低于门限（{}；Wilson 95 % 区间 {} 至 {}）"},
    {"score {} is below the limit: upper 95 % bound {} ({}; Wilson 95 % {} to {})",
     "得分 {} 低于门限：95 % 上界 {}（{}；Wilson 95 % 区间 {} 至 {}）"},
    {"score {} is shown to reach the limit: lower 95 % bound {} ({}; Wilson 95 % {} to {})",
     "已证实得分 {} 达到门限：95 % 下界 {}（{}；Wilson 95 % 区间 {} 至 {}）"},
    {"score {} is not shown to reach the limit: lower 95 % bound {} ({}; Wilson 95 % {} to {})",
     "未能证实得分 {} 达到门限：95 % 下界 {}（{}；Wilson 95 % 区间 {} 至 {}）"},
    {"limit {} = {} - {}", "门限 {} = {} - {}"},
    {"limit {} = {} x (1 - {})", "门限 {} = {} ×（1 - {}）"},
    {"{} answers without a readable letter, {} cut at the token limit, {} failed requests",
     "{} 个答案读不出选项字母，{} 个在 token 上限处被截断，{} 个请求失败"},
    {"{} answers lost and {} won of {} ({} points, 95 % {} to {}): a loss is shown, and one of {} points is "
     "not "
     "excluded",
     "{2} 个答案中 {0} 个由对变错、{1} 个由错变对（{3} 分，95 % 区间 {4} 至 {5}）：已证实退化，且不能排除达 "
     "{6} 分的退化"},
    {"{} answers lost and {} won of {} ({} points, 95 % {} to {}): a loss of {} points is excluded",
     "{2} 个答案中 {0} 个由对变错、{1} 个由错变对（{3} 分，95 % 区间 {4} 至 {5}）：已排除达 {6} 分的退化"},
    {"{} answers lost and {} won of {} ({} points, 95 % {} to {}): better, and a loss of {} points is "
     "excluded",
     "{2} 个答案中 {0} 个由对变错、{1} 个由错变对（{3} 分，95 % 区间 {4} 至 {5}）：有提升，并已排除达 {6} "
     "分的退化"},
    {"{} answers lost and {} won of {} ({} points, 95 % {} to {}): a loss of {} points is neither shown nor "
     "excluded; "
     "this run finds losses from {} points on, more repeats find smaller ones",
     "{2} 个答案中 {0} 个由对变错、{1} 个由错变对（{3} 分，95 % 区间 {4} 至 {5}）：达 {6} "
     "分的退化既未证实也未排除；本次"
     "运行可检出 {7} 分以上的退化，增加重复次数可检出更小的退化"},
    {"lost ({}): {}", "由对变错（{}）：{}"},
    {"won ({}): {}", "由错变对（{}）：{}"},
    {"answers cut at the token limit: {} here, {} in the baseline",
     "被 token 上限截断的答案：本次 {}，基线 {}"},
    {"answers without a readable letter: {} here, {} in the baseline",
     "读不出选项字母的答案：本次 {}，基线 {}"},
    {"one question cannot be compared; ask more", "只有一道题无法对比，请增加题目"},
    {"{} and {} without their questions: {} points (95 % {} to {}, p {}) is significant; a loss of {} points "
     "is {}, and "
     "one of {} would have been found four times in five",
     "{} 与 {}，没有逐题数据：{} 分（95 % 区间 {} 至 {}，p {}），差异显著；达 {} 分的退化{}，{} "
     "分的退化五次中可发现四次"},
    {"{} and {} without their questions: {} points (95 % {} to {}, p {}) is not significant; a loss of {} "
     "points is {}, "
     "and one of {} would have been found four times in five",
     "{} 与 {}，没有逐题数据：{} 分（95 % 区间 {} 至 {}，p {}），差异不显著；达 {} 分的退化{}，{} "
     "分的退化五次中可发现"
     "四次"},
    {"excluded", "已排除"},
    {"not excluded", "未排除"},
    {"score {} after {} of {} samples in random order: the score of all would pass (limit {}; otherwise in "
     "at most {} % "
     "of orders)",
     "按随机顺序回答 {2} 个样本中的 {1} 个后得分 {0}：全部样本的得分会通过（门限 {3}；最多 {4} % "
     "的顺序会得出不同结论）"},
    {"score {} after {} of {} samples in random order: the score of all would fail (limit {}; otherwise in "
     "at most {} % "
     "of orders)",
     "按随机顺序回答 {2} 个样本中的 {1} 个后得分 {0}：全部样本的得分会失败（门限 {3}；最多 {4} % "
     "的顺序会得出不同结论）"},
    {"score {} after {} of {} samples in random order: what the score of all would be is open (limit {}; "
     "otherwise in "
     "at most {} % of orders)",
     "按随机顺序回答 {2} 个样本中的 {1} 个后得分 {0}：全部样本的得分尚不确定（门限 {3}；最多 {4} % "
     "的顺序会得出不同结论）"},
    {"{} lost and {} won after {} of {} samples in random order ({} points): all samples would exclude a "
     "loss of {} "
     "points (otherwise in at most {} % of orders)",
     "按随机顺序回答 {3} 个样本中的 {2} 个后，{0} 个由对变错、{1} 个由错变对（{4} 分）：全部样本会排除达 {5} "
     "分的退化（最多 "
     "{6} % 的顺序会得出不同结论）"},
    {"{} lost and {} won after {} of {} samples in random order ({} points): all samples would show a loss "
     "(otherwise in "
     "at most {} % of orders)",
     "按随机顺序回答 {3} 个样本中的 {2} 个后，{0} 个由对变错、{1} 个由错变对（{4} "
     "分）：全部样本会证实退化（最多 {5} % 的顺"
     "序会得出不同结论）"},
    {"{} lost and {} won after {} of {} samples in random order ({} points): it is open whether all samples "
     "exclude a "
     "loss of {} points (otherwise in at most {} % of orders)",
     "按随机顺序回答 {3} 个样本中的 {2} 个后，{0} 个由对变错、{1} 个由错变对（{4} 分）：全部样本能否排除达 "
     "{5} 分的退化尚不"
     "确定（最多 {6} % 的顺序会得出不同结论）"},

    // Speed
    {"{} (95 % {} to {}): worse by more than the margin of {} %",
     "{}（95 % 区间 {} 至 {}）：变差幅度超过 {} % 的容差"},
    {"{} (95 % {} to {}): better by more than the margin", "{}（95 % 区间 {} 至 {}）：提升幅度超过容差"},
    {"{} (95 % {} to {}): a loss of {} % is excluded", "{}（95 % 区间 {} 至 {}）：已排除 {} % 的退化"},
    {"{} (95 % {} to {}): worse, but by {} {}, below the least change that counts ({})",
     "{}（95 % 区间 {} 至 {}）：变差，但只有 {} {}，低于计入判定的最小变化（{}）"},
    {"{} (95 % {} to {}): a loss of {} % is neither shown nor excluded; single runs vary by {} %",
     "{}（95 % 区间 {} 至 {}）：{} % 的退化既未证实也未排除；单次运行的波动为 {} %"},
    {"{} (95 % {} to {}): a loss of {} % is neither shown nor excluded; single runs vary by {} %, more than "
     "the margin: "
     "this gate cannot see such a loss here",
     "{}（95 % 区间 {} 至 {}）：{} % 的退化既未证实也未排除；单次运行的波动为 {} "
     "%，大于容差：此门禁在这里看不到这样的退化"},
    {"{}, single figures without an interval: worse by more than the margin of {} %; a candidate for a "
     "regression, to "
     "be confirmed by repeated, interleaved runs",
     "{}，单个数据，没有区间：变差幅度超过 {} % 的容差；疑似退化，需用多次交错运行确认"},
    {"{}, single figures without an interval: better by more than the margin",
     "{}，单个数据，没有区间：提升幅度超过容差"},
    {"{}, single figures without an interval: within the margin of {} %",
     "{}，单个数据，没有区间：在 {} % 的容差之内"},
    {"{}: n too small to decide: {} baseline run; at least {} needed to tell a change from noise",
     "{}：样本太少，无法判定：基线运行 {} 次；至少需要 {} 次才能区分变化与噪声"},
    {"{}: n too small to decide: {} baseline runs; at least {} needed to tell a change from noise",
     "{}：样本太少，无法判定：基线运行 {} 次；至少需要 {} 次才能区分变化与噪声"},
    {"{} (95 % {} to {}): worse than the margin of {} %, but runs of equal code differ by up to {} %",
     "{}（95 % 区间 {} 至 {}）：变差超过 {} % 的容差，但相同代码的运行之间相差可达 {} %"},
    {"{} (95 % {} to {}): worse by more than the noise floor of {} %",
     "{}（95 % 区间 {} 至 {}）：变差幅度超过 {} % 的噪声下限"},
    {"{} (95 % {} to {}): worse than the margin of {} % by itself (p {}), but n is too small to say so among "
     "{} "
     "metrics of this run (adjusted p {}, level {}); more baseline runs decide",
     "{}（95 % 区间 {} 至 {}）：单独看变差超过 {} % 的容差（p {}），但样本太少，无法在本次运行的 {} "
     "个指标中成立（校正后 p {}，水平 {}）；更多基线运行可以判定"},
    {"{} (95 % {} to {}): worse than the noise floor of {} % by itself (p {}), but n is too small to say so "
     "among "
     "{} metrics of this run (adjusted p {}, level {}); more baseline runs decide",
     "{}（95 % 区间 {} 至 {}）：单独看变差超过 {} % 的噪声下限（p {}），但样本太少，无法在本次运行的 {} "
     "个指标中成立（校正后 p {}，水平 {}）；更多基线运行可以判定"},
    {"{}: this gate cannot see a loss of {} %: runs of equal code on this machine differ by up to {}; a "
     "quieter "
     "machine or a wider margin helps",
     "{}：此门禁看不到 {} % 的退化：本机上相同代码的运行之间相差可达 {}；更安静的机器或更大的容差会有帮助"},
    {"{} of {} answers were cut at the token limit, {} of {} in the baseline ({} points)",
     "{1} 个答案中 {0} 个在令牌上限处被截断，基线 {3} 个中有 {2} 个（{4} 分）"},
    {"{} of {} answers were cut at the token limit, {} of {} in the baseline ({} points): does the model's "
     "end token "
     "still end an answer?",
     "{1} 个答案中 {0} 个在令牌上限处被截断，基线 {3} 个中有 {2} 个（{4} "
     "分）：模型的结束令牌是否仍会结束回答？"},
    {"{} seeded requests got the same text alone and all at once",
     "{} 个带种子的请求单独发送与同时发送得到相同的文本"},
    {"not all requests were asked twice", "并非所有请求都问了两次"},
    {"{} of {} seeded requests got another text beside others than alone, and the config says that this "
     "server does "
     "not do that",
     "{1} 个带种子的请求中有 {0} 个与其他请求一起发送时得到不同的文本，而配置声明该服务器不会如此"},
    {"the record does not say what each request asked for", "记录没有说明每个请求要求的长度"},
    {"{}; {} baseline run; at least {} needed to tell a change from noise",
     "{}；基线运行 {} 次；至少需要 {} 次才能区分变化与噪声"},
    {"{}; {} baseline runs; at least {} needed to tell a change from noise",
     "{}；基线运行 {} 次；至少需要 {} 次才能区分变化与噪声"},
    {"{} (95 % {} to {})", "{}（95 % 区间 {} 至 {}）"},
    {"{} baseline run", "基线运行 {} 次"},
    {"{} baseline runs", "基线运行 {} 次"},
    {"at least {} needed to tell a change from noise", "至少需要 {} 次才能区分变化与噪声"},
    {"no baseline run has this metric", "没有基线运行包含该指标"},
    {"not a speed: a ratio needs values above zero", "不是有效的速度：比值要求数值大于零"},
    {"not measured", "未测量"},
    {"a primary metric of the config that this benchmark does not report",
     "配置中的主要指标，但该基准测试没有给出"},
    {"an observation: {} requests cannot bound a p99, {} can",
     "仅供观察：{} 个请求不足以界定 p99，需要 {} 个"},
    {"not judged: {}", "未判定：{}"},
    {"the answers did not have the length that throughput needs", "答案长度不符合吞吐测量的要求"},
    {"no baseline was asked for", "未要求对比基线"},
    {"no baseline yet", "尚无基线"},
    {"the measurement is invalid", "测量无效"},
    {"the answers fail the accuracy gate, and the speed of wrong answers is no speed",
     "答案未通过准确率门禁，错误答案的速度不算速度"},

    // Validity
    {"not possible: {}", "无法检查：{}"},
    {"all {} samples were asked", "全部 {} 个样本均已提问"},
    {"{} of {} planned samples were asked; a part of the questions is not the score",
     "计划的 {1} 个样本只提问了 {0} 个；部分题目不构成得分"},
    {"ended after {} of {} samples in random order, {} sent: the verdict was clear",
     "按随机顺序在 {1} 个样本中的第 {0} 个后结束，共发出 {2} 个：结论已经明确"},
    {"ended after {} of {} samples, which is none of the looks that were planned",
     "在 {1} 个样本中的第 {0} 个后结束，不是计划好的检视点"},
    {"{} of {} requests failed ({} %, limit {} %)", "{1} 个请求中有 {0} 个失败（{2} %，上限 {3} %）"},
    {"{} x {}", "{} × {}"},
    {"answered more than once, so the score is not k/n of the questions: {}",
     "有题目被回答多次，得分不再是题目的 k/n：{}"},
    {"samples of {} questions for {} planned, or repeats outside 0..{}",
     "计划 {1} 题却有 {0} 题的样本，或重复序号超出 0..{2}"},
    {"the score is {} of {} samples, each asked once", "得分为 {1} 个样本中的 {0} 个，每个样本只提问一次"},
    {"{} results state a score and not its samples", "{} 的结果只给出得分，没有样本"},
    {"{} is {} of {}", "{} 即 {} / {}"},
    {"{} is no k of {} samples ({} would be {}): the score or the number of samples is not what was measured",
     "{} 不可能是 {} 个样本的 k/n（{} 个应为 {}）：得分或样本数与实测不符"},
    {"all {} requests completed", "全部 {} 个请求均已完成"},
    {"{} of {} planned requests completed; speed is only stated for all of them",
     "计划的 {1} 个请求只完成了 {0} 个；速度只针对全部请求给出"},
    {"the source does not say how many requests completed", "来源没有说明完成了多少请求"},
    {"the source states no token counts to hold the throughput against",
     "来源没有给出 token 数，无法核对吞吐"},
    {"the record has not both token and request throughput", "记录中没有同时包含 token 吞吐与请求吞吐"},
    {"{} tok/s against {} req/s x {} tokens = {}", "{} tok/s，对照 {} req/s × {} 个 token = {}"},
    {"the lengths asked for differ from request to request", "各请求要求的长度不同"},
    {"output length is not pinned (ignore_eos is off)", "输出长度未固定（未开启 ignore_eos）"},
    {"answers had {} tokens on average, {} were asked for (limit 1 %)",
     "答案平均 {} 个 token，要求 {} 个（上限 1 %）"},
    {"does the server honour ignore_eos?", "服务器是否遵守 ignore_eos？"},
    {"the source does not say how long requests took", "来源没有说明请求耗时"},
    {"{} requests in flight on average for a concurrency of {} (limits 85 % to 102 %)",
     "平均并发 {} 个请求，设定并发为 {}（允许 85 % 至 102 %）"},
    {"use more prompts, so that the tail weighs less", "请增加提示数量以降低尾部影响"},
    {"the last request was due at {} s and sent at {} s (achieved {} % of the rate, limit 98 %)",
     "最后一个请求计划于 {} 秒发出，实际于 {} 秒发出（达到速率的 {} %，下限 98 %）"},
    {"the record has no send times", "记录中没有发送时间"},
    {"{} results hold no planned send times", "{} 的结果没有计划发送时间"},
    {"{} results list no requests", "{} 的结果没有列出请求"},
    {"p99 of actual minus planned send time {} ms (limit {} ms); client used {} % of a core",
     "实际与计划发送时间之差的 p99 为 {} 毫秒（上限 {} 毫秒）；客户端占用 {} % 的单核"},
    {"fewer than 40 requests show no trend", "少于 40 个请求看不出趋势"},
    {"requests in flight went from {} to {} while sending", "发送期间并发请求数从 {} 变为 {}"},
    {"the load never settled, so latency describes this burst and not a steady rate (lower rate or more "
     "prompts)",
     "负载始终没有稳定，时延只反映这次突发而非稳定速率（请降低速率或增加提示数量）"},
    {"{} answers came without the server's own token count", "{} 个答案没有服务器给出的 token 数"},
    {"the server's token counts agree with what it streamed", "服务器给出的 token 数与其流式输出一致"},
    {"{} answers streamed more chunks than the server says it made tokens, {} streamed none",
     "{} 个答案的数据块多于服务器声称生成的 token 数，{} 个没有任何输出"},
    {"answers had {} tokens here and {} in the baseline (limit {} %)",
     "答案长度本次 {} 个 token，基线 {} 个（上限 {} %）"},
    {"{} requests in flight here and {} in the baseline (limit 5 %)",
     "平均并发本次 {} 个请求，基线 {} 个（上限 5 %）"},
    {"{} requests in flight here and {} in the baseline (limit 5 %): another load is another point of the "
     "latency-throughput curve",
     "平均并发本次 {} 个请求，基线 {} 个（上限 5 %）：负载不同，对应时延-吞吐曲线上的另一点"},
    {"the machine itself ran {} % faster than in the baseline runs (limit {} % and what it varies by)",
     "机器本身比基线运行时快 {} %（上限 {} % 及其自身波动）"},
    {"the machine itself ran {} % slower than in the baseline runs (limit {} % and what it varies by)",
     "机器本身比基线运行时慢 {} %（上限 {} % 及其自身波动）"},
    {"the machine itself ran {} % faster than in the baseline runs, more than {} % and than it varies by, so "
     "speeds say "
     "nothing of the change: run again, or, if it is so for good, assay baseline ack {} machine_pace",
     "机器本身比基线运行时快 {} %，超过 {} % "
     "及其自身波动，速度不能说明这次改动：请重新运行；若长期如此，请执行 assay baseline ack {} machine_pace"},
    {"the machine itself ran {} % slower than in the baseline runs, more than {} % and than it varies by, so "
     "speeds say "
     "nothing of the change: run again, or, if it is so for good, assay baseline ack {} machine_pace",
     "机器本身比基线运行时慢 {} %，超过 {} % "
     "及其自身波动，速度不能说明这次改动：请重新运行；若长期如此，请执行 assay baseline ack {} machine_pace"},
    {"heat or a power brake held GPU clocks back for {} % of the benchmark, and for {} % in the median of "
     "the "
     "baseline runs",
     "本次基准测试有 {} % 的时间因过热或功率制动而降频，基线运行的中位数为 {} %"},
    {"heat or a power brake held GPU clocks back for {} % of the benchmark, and for {} % in the median of "
     "the "
     "baseline runs, so speeds say nothing of the change: cool the machine and run again, or, if it is so "
     "for "
     "good, assay baseline ack {} machine_pace",
     "本次基准测试有 {} % 的时间因过热或功率制动而降频，基线运行的中位数为 {} "
     "%，速度不能说明这次改动：请给机器降温后重新运行；若长期如此，请执行 assay baseline ack {} "
     "machine_pace"},
    {"{} (95 % {} to {}, {} pairs): a loss of {} % is neither shown nor excluded",
     "{}（95 % 区间 {} 至 {}，{} 对）：{} % 的损失既未被证实也未被排除"},
    {"{} (95 % {} to {}, {} pairs): a loss of {} % is neither shown nor excluded by all primary metrics "
     "together "
     "(Holm)",
     "{}（95 % 区间 {} 至 {}，{} 对）：在全部主要指标合并校正后（Holm），{} % 的损失既未被证实也未被排除"},
    {"the baseline keeps no hashes of its answers; record a new one",
     "基线没有保存答案的哈希；请重新记录基线"},
    {"{} answers are word for word the baseline's", "{} 个答案与基线逐字相同"},
    {"{} of {} answers are another text than the baseline's", "{}/{} 个答案的文本与基线不同"},
    {"{} of {} answers are another text than the baseline's, and the config says that no change may do that",
     "{}/{} 个答案的文本与基线不同，而配置规定任何改动都不得如此"},
    {"the baseline ran on another device", "基线在另一种设备上运行"},
    {"changed ({}): {}", "改变（{}）：{}"},
    {"imported results do not say which machine, flags and model they are of",
     "导入的结果没有说明所用的机器、参数与模型"},
    {"the run has no cell: nothing was measured", "运行中没有任何单元：没有测量任何内容"},
    {"the run did not reach its end (status {})", "运行没有到达终点（状态 {}）"},
    {"nothing was measured in this cell", "该单元没有测量任何内容"},
    {"asking ended early, and there is neither a threshold nor a baseline that says why",
     "提问提前结束，但既没有门限也没有基线能说明原因"},
    {"the baseline cannot be compared question by question; record a new one on main",
     "基线无法逐题对比；请在主分支上重新记录基线"},
    {"{}: {} here, {} in the baseline", "{}：本次 {}，基线 {}"},
    {"unknown", "未知"},
    {"question ids: {} only here, {} only in the baseline, {} in both",
     "题目编号：仅本次 {} 个，仅基线 {} 个，两者共有 {} 个"},
    {"the baseline's eval was not finished", "基线的评测没有完成"},
    {"{} samples show their options in another order", "{} 个样本的选项顺序不同"},
    {"{} of the baseline's {} requests failed", "基线的 {1} 个请求中有 {0} 个失败"},
    {"the baseline states no samples", "基线没有给出样本"},

    // Baselines
    {"compared with {}", "对比对象：{}"},
    {"{} record", "{} 个记录"},
    {"{} records", "{} 个记录"},
    {"{} stored run of {}", "{1} 分支的 {0} 次已存运行"},
    {"{} stored runs of {}", "{1} 分支的 {0} 次已存运行"},
    {"{} stored run of {} and {}", "{1} 分支的 {0} 次已存运行与 {2}"},
    {"{} stored runs of {} and {}", "{1} 分支的 {0} 次已存运行与 {2}"},
    {"earlier runs ended early, so there are no answers to compare question by question",
     "较早的运行提前结束，没有可逐题对比的答案"},
    {"there is no accuracy baseline yet", "尚无准确率基线"},
    {"this machine has no performance baseline yet for {}", "本机尚无 {} 的性能基线"},
    {"this machine has no performance baseline yet for {} (the nearest earlier run differs in {})",
     "本机尚无 {} 的性能基线（最接近的较早运行在以下方面不同：{}）"},
    {"{}; run main here first, set gate.baseline.first_run to record, or pass --allow-missing-baseline",
     "{}；请先在本机运行主分支，或将 gate.baseline.first_run 设为 record，或加上 --allow-missing-baseline"},
    {"{}; this run is recorded as its first", "{}；本次运行记录为首次"},
    {"{}; allowed by --allow-missing-baseline", "{}；已由 --allow-missing-baseline 放行"},
    {"{} fails and is acknowledged by {} until {}: {}", "{} 失败，已由 {} 确认，有效期至 {}：{}"},
    {"the acknowledgement of {} held until {}", "{} 的确认已于 {} 到期"},
    {"workaround {} can go: {} is {}, and it was there until {}",
     "临时规避方案 {} 可以移除：{} 已是 {}，而它只需保留到 {}"},
    {"workaround {} (until {}): the version of {} is unknown here, so nobody is told when it can go",
     "临时规避方案 {}（至 {}）：此处不知道 {} 的版本，因此无法提示何时可以移除"},
    {"stored as a run of {}, so later runs, which are compared with {}, will not be compared with it "
     "(--branch names "
     "the branch)",
     "存为 {} 的运行；以后的运行对比的是 {}，因此不会与它对比（可用 --branch 指定分支）"},
    {"no branch", "无分支"},

    // Two arms that ran in turn
    {"{} pair", "{} 对"},
    {"{} pairs", "{} 对"},
    {"change in each pair: {}", "各对的变化：{}"},
    {"Hodges-Lehmann {}; exact sign-flip p {} for any change, two-sided",
     "Hodges-Lehmann 估计 {}；任意变化的精确符号翻转检验 p 为 {}（双侧）"},
    {"{} after {}: n too small to decide, {} are needed", "{}（{}后）：样本量不足以判定，需要 {}"},
    {"{} after {}: no look yet", "{}（{}后）：尚未到检视点"},
    {"not measured in every run", "并非每次运行都测得"},
    {"{} of {} pairs before the first look: n too small to decide",
     "首次检视前需 {1} 对，现有 {0} 对：样本量不足以判定"},
    {"{} in pair {}: {}", "第 {1} 对的 {0}：{2}"},
    {"nothing is said of head: what it would be compared with does not work",
     "不对 head 作结论：其对比对象无法工作"},
    {"no pair was measured whole", "没有一对被完整测得"},
    {"machine, program, flags and model are those of the arm's first run",
     "机器、程序、参数与模型同该侧的首次运行一致"},
    {"not what this arm was in its first run: {} changed", "与该侧的首次运行不同：{} 发生变化"},
    {"this run has no accuracy eval", "该次运行没有准确率评测"},
    {"this run has no such benchmark", "该次运行没有此基准测试"},
    {"the two arms were asked for different loads", "两侧的负载不同"},
    {"{}: the two arms cannot be compared question by question", "{}：两侧无法逐题对比"},
    {"{}: the speeds of the two arms cannot be compared", "{}：两侧的速度无法对比"},
    {"the arms are not comparable", "两侧不可比"},
    {"a measurement is invalid", "有测量无效"},
    {"runs in turn, each on a server process of its own: {} (seed {})",
     "交替运行，每次使用独立的服务器进程：{}（种子 {}）"},
    {"runs in turn, on two servers that ran already, so that what differs between two starts of one server "
     "is not seen: "
     "{} (seed {})",
     "在两个已运行的服务器上交替运行，因此看不到同一服务器两次启动之间的差异：{}（种子 {}）"},
    {"ended by the budget of {} s after {} of at most {} pairs",
     "在至多 {2} 对中完成 {1} 对后，因 {0} 秒的预算用尽而结束"},
    {"looked at after each pair from {} to {}, ended after {}: {}",
     "自第 {} 对至第 {} 对每对之后检视，在第 {} 对后结束：{}"},
    {"decided", "已有结论"},
    {"all were measured", "已全部测完"},

    // Servers
    {"nothing of this cell was judged; this is worth one retry", "该单元未判定任何项目；可重试一次"},
    {"nothing of this cell passes: the server itself failed; do not retry until green",
     "该单元没有项目通过：服务器本身出错；不要反复重跑直到变绿"},
    {"{} of {} samples of {} were answered before it ended", "结束前回答了 {2} 的 {1} 个样本中的 {0} 个"},
    {"{} of {} requests of {} were made", "{2} 的 {1} 个请求发出了 {0} 个"},
    {"{} (stage {}, {})", "{}（阶段 {}，{}）"},
    {"{} (stage {})", "{}（阶段 {}）"},
    {"starting", "启动"},
    {"the kernel's out-of-memory killer ended it", "内核的内存不足终止机制（OOM killer）结束了它"},
    {"the device is lost or missing", "设备丢失或不存在"},
    {"a GPU kernel touched memory that is not its own", "GPU 内核访问了不属于它的内存"},
    {"the GPU reported a memory access fault", "GPU 报告内存访问错误"},
    {"out of device memory", "显存不足"},
    {"out of host memory", "主机内存不足"},
    {"its port was taken by somebody else", "端口被其他进程占用"},
    {"port {} is in use by another process", "端口 {} 被另一进程占用"},
    {"it does not know a flag or a value that the config gives it", "它不认识配置给出的某个参数或取值"},
    {"model files are missing or unreadable", "模型文件缺失或无法读取"},
    {"its tokenizer cannot be used; engine.tokenizer names another one",
     "分词器无法使用；可用 engine.tokenizer 指定另一个"},
    {"{} before it was ready", "就绪之前{}"},
    {"{} while it was being measured", "测量过程中{}"},
    {"not ready", "未就绪"},
    {"somebody outside ended it with {}", "被外部以 {} 结束"},
    {"exit code {}", "退出码 {}"},
    {"signal {} ({})", "信号 {}（{}）"},
    {"its log ends: {}", "日志末尾：{}"},
    {"its log says: {}", "日志内容：{}"},

    // Cells of a fleet
    {"{} attempts; the newest decides: {}; not counted: {}", "共 {} 次尝试；以最新一次为准：{}；不计入：{}"},
    {"no folder of {} is there: its job did not run or left nothing",
     "找不到 {} 的目录：任务未运行或未留下任何结果"},
    {"{}: has no exit_code: the job was killed, timed out or lost its machine",
     "{}：没有 exit_code：任务被终止、超时或失去了所在机器"},
    {"{}: the run did not reach its end (it was killed)", "{}：运行未到达终点（被终止）"},
    {"{}: the record is damaged: {}", "{}：记录已损坏：{}"},
    {"{}: assay ended with exit code {} and left no record", "{}：assay 以退出码 {} 结束，未留下记录"},
    {"{}: assay ended with exit code {}, its verdict with {}",
     "{}：assay 以退出码 {} 结束，其结论的退出码却是 {}"},
};

}  // namespace

std::span<const Phrase> ChineseVerdicts() {
  return kPhrases;
}

}  // namespace assay::reports
