#include "reports/chinese.h"

namespace assay::reports {
namespace {

constexpr Phrase kPhrases[] = {
    // Words of tables and lists
    {", ", "、"},
    {": {}", "：{}"},
    {"; {}", "；{}"},
    {", {}", "，{}"},
    {"none", "无"},
    {"unknown", "未知"},
    {"unknown device", "未知设备"},
    {"not measured", "未测量"},
    {"not judged", "未判定"},
    {"observation", "仅供观察"},
    {"holds", "成立"},
    {"suspect", "可疑"},
    {"near chance", "接近随机"},
    {"baseline", "基线"},
    {"this run", "本次运行"},
    {"PR", "PR"},
    {"base", "基准侧"},
    {"head", "改动侧"},
    {"backend", "后端"},
    {"because of", "原因"},
    {"cell", "单元"},
    {"change", "变化"},
    {"check", "检查项"},
    {"config", "配置"},
    {"effect", "影响"},
    {"field", "字段"},
    {"files", "文件"},
    {"finds from", "最小可检出"},
    {"job", "任务"},
    {"limit", "门限"},
    {"machine", "机器"},
    {"margin", "容差"},
    {"measured", "实测"},
    {"metric", "指标"},
    {"reference", "参考值"},
    {"score", "得分"},
    {"shape", "负载形状"},
    {"value", "数值"},
    {"variant", "变体"},
    {"verdict", "结论"},
    {"95 %", "95 %"},
    {"95 % interval", "95 % 区间"},
    {"{} and {} more", "{} 等，另有 {} 项"},
    {"{} of {}", "{} / {}"},
    {"{} ({} x {})", "{}（{} × {}）"},
    {"{} times", "{} 次"},
    {"{} to {}", "{} 至 {}"},
    {"{} points", "{} 分"},
    {"{:.1f} points", "{:.1f} 分"},
    {"{} (mean of {})", "{}（{} 次均值）"},
    {"at least {:.4f}", "不低于 {:.4f}"},
    {"{}, improved", "{}，有提升"},
    {"{}, acknowledged", "{}，已确认"},
    {"server {}", "服务器 {}"},
    {"{} baseline", "{} 基线"},
    {"{}, against the baseline", "{}，对比基线"},
    {"{}, near chance", "{}，接近随机"},
    {"{}, threshold", "{}，门限"},
    {"requests completed / failed", "请求 成功 / 失败"},

    // Headings
    {"Executive summary", "执行摘要"},
    {"What is wrong", "问题所在"},
    {"What could not be decided", "未能判定的项目"},
    {"Accuracy", "准确率"},
    {"Serving", "服务性能"},
    {"Serving {}", "服务性能 {}"},
    {"Answers", "作答情况"},
    {"Plots", "图表"},
    {"Improvements", "提升"},
    {"Notes", "备注"},
    {"Environment differences", "环境差异"},
    {"Reproduce", "复现命令"},
    {"definitions", "术语说明"},
    {"observations (they decide nothing)", "观察项（不参与判定）"},
    {"samples, graders and domains", "样本、评分器与领域"},
    {"last {} lines of the server log of {}", "{1} 服务器日志的最后 {0} 行"},
    {"configs that pass: {}", "通过的配置：{}"},

    // The head of a page
    {"{} checks: {} fail, {} invalid, {} inconclusive, {} pass ({} improved).",
     "共 {} 项检查：{} 项失败，{} 项无效，{} 项无法判定，{} 项通过（其中 {} 项提升）。"},
    {"{} were not judged.", "{} 项未判定。"},
    {"{} of {} validity checks hold.", "有效性检查 {1} 项，{0} 项成立。"},
    {"{} of {} validity checks hold", "有效性检查 {1} 项，{0} 项成立"},
    {"Exit code {}.", "退出码 {}。"},
    {"Run {} of {}", "运行 {}，时间 {}"},
    {", commit {}", "，提交 {}"},
    {" on {}", "，分支 {}"},
    {", assay {} ({})", "，assay {}（{}）"},
    {"{} on {}{}", "{}，机器 {}{}"},
    {"a machine that is not stated", "未说明的机器"},

    // The executive summary
    {"In a sentence:", "一句话："},
    {"Recommended action:", "推荐动作："},
    {"Risk flags:", "风险标记："},
    {"Affected config:", "受影响配置："},
    {"Affected configs:", "受影响配置："},
    {"This run shows: {}.", "本次运行出现：{}。"},
    {"There is nothing to compare this run with.", "本次运行没有可对比的基线。"},
    {"This measurement cannot be judged.", "本次测量无法用于判定。"},
    {"Nothing could be measured.", "未能完成测量。"},
    {"The measurement is sound, and too little of it to decide anything.",
     "测量有效，但数据量不足以得出结论。"},
    {"Nothing was judged.", "没有任何项目被判定。"},
    {"No loss is shown.", "未发现退化。"},
    {"No loss is shown, and {} checks improved.", "未发现退化，{} 项检查有提升。"},
    {"{} of {} cells show: {} ({}).", "{1} 个单元中有 {0} 个出现：{2}（{3}）。"},
    {"There is nothing to compare {} of {} cells with: {}.", "{1} 个单元中有 {0} 个没有可对比的基线：{2}。"},
    {"The measurement of {} of {} cells cannot be judged: {}.",
     "{1} 个单元中有 {0} 个的测量无法用于判定：{2}。"},
    {"{} of {} cells could not be measured: {}.", "{1} 个单元中有 {0} 个未能完成测量：{2}。"},
    {"{} of {} cells could not be decided: {}.", "{1} 个单元中有 {0} 个无法判定：{2}。"},
    {"Nothing was judged in {} cells.", "{} 个单元均未判定任何项目。"},
    {"No loss is shown in {} cells.", "{} 个单元均未发现退化。"},
    {"No loss is shown in {} cells, and {} checks improved.", "{} 个单元均未发现退化，{} 项检查有提升。"},
    {"The run was stopped before its end.", "运行在结束前被中止。"},
    {"Go on with --resume, or run again.", "用 --resume 继续，或重新运行。"},
    {"Do not merge. The server broke while it was measured: its log below says where. Running again until it "
     "is "
     "green would only hide it.",
     "请勿合并。服务器在测量过程中出错，下方日志指明了位置。反复重跑直到变绿只会掩盖问题。"},
    {"Do not merge unless this change was meant to change the arithmetic: it gives other texts, whatever the "
     "score "
     "says. Look at kernels, layouts and number formats; what is meant can be accepted with assay baseline "
     "ack.",
     "除非本次改动有意改变计算，否则请勿合并：不论得分如何，回答文本已经不同。请检查算子、布局与数值格式；有"
     "意的改变可用 assay baseline ack 接受。"},
    {"Do not merge. The same seeded requests got other texts: look at what a request's place in the "
     "batch, its seed and the prefix cache have to do with its answer.",
     "请勿合并。相同种子的请求得到了不同的文本：请检查请求在批次中的位置、随机种子和前缀缓存对回答的影响。"},
    {"Do not merge. Answers got worse: compare the lost questions below between the two builds, and rule out "
     "the "
     "environment differences. Running again until it is green would only hide it.",
     "请勿合并。作答质量下降：请在两个构建之间对比下方答错的题目，并排除环境差异。反复重跑直到变绿只会掩盖问"
     "题。"},
    {"Do not merge before the slowdown is explained or accepted. Rule out the environment differences below; "
     "interleaved runs of both builds on one machine confirm it. Running again until it is green would only "
     "hide "
     "it.",
     "在变慢的原因得到解释或被接受之前请勿合并。请先排除下方的环境差异；在同一台机器上交错运行两个构建可以确"
     "认。反复"
     "重跑直到变绿只会掩盖问题。"},
    {"Measure the base branch on this machine first, then run this again. A gate without its reference says "
     "nothing "
     "about the change.",
     "请先在这台机器上测量基准分支，再重新运行。没有参照的门禁无法说明本次改动的好坏。"},
    {"Repair the measurement as named below and run again. These numbers say nothing about the change.",
     "请按下文所述修复测量后重新运行。这些数字无法说明本次改动的好坏。"},
    {"Run once more: the reason lies outside the change.", "请重跑一次：原因不在本次改动之内。"},
    {"Take more runs, or accept a wider margin: below is what would decide.",
     "请增加运行次数，或接受更大的容差：下文列出了得出结论所需的条件。"},
    {"Nothing measured here speaks against merging.", "测量结果没有反对合并的依据。"},
    {"Nothing measured here speaks against merging; some checks are undecided and listed below.",
     "测量结果没有反对合并的依据；部分检查无法判定，见下文。"},

    // Risk flags
    {"accuracy loss", "准确率下降"},
    {"score below its limit", "得分低于门限"},
    {"model guesses", "模型在随机猜测"},
    {"slowdown", "性能变慢"},
    {"failure", "失败"},
    {"answers changed", "回答改变"},
    {"answers change from run to run", "回答每次运行不同"},
    {"server breaks", "服务器崩溃"},
    {"server hangs", "服务器挂起"},
    {"speed not judged", "速度未判定"},
    {"no baseline", "缺少基线"},
    {"measurement invalid", "测量无效"},
    {"infrastructure", "基础设施问题"},
    {"undecided", "存在未判定项"},
    {"improvement", "有提升"},
    {"answers cut at the token limit", "答案被 token 上限截断"},
    {"answers without a readable letter", "答案中读不出选项字母"},
    {"ended early", "提前结束"},
    {"first run, nothing compared", "首次运行，未作对比"},
    {"workaround can go", "临时规避方案可以移除"},
    {"open regression on the branch", "分支上存在未解决的退化"},
    {"workaround in use", "使用了临时规避方案"},
    {"acknowledged regression", "存在已确认的退化"},
    {"environment differs", "环境有差异"},

    // Lists
    {"the run", "整次运行"},
    {"{} cells: ", "{} 个单元："},
    {"{} checks are better by more than the margin.", "{} 项检查的提升超过容差。"},
    {"The server of {} left no log.", "{} 的服务器没有留下日志。"},
    {"Whole log: {}", "完整日志：{}"},
    {"Command: {}", "启动命令：{}"},
    {"note: {}", "备注：{}"},
    {"{} more are in the step's summary", "另有 {} 项见该步骤的摘要"},
    {"Files of this job: {}", "本任务的文件：{}"},

    // Environment and validity
    {"environment: fields that differ from the baseline: {}", "环境：与基线不同的字段 {} 个"},
    {"What else changed since the baseline, any of which may explain a change:",
     "与基线相比还有以下不同，任何一项都可能是变化的原因："},
    {"neither answers nor speed are comparable", "答案与速度均不可比"},
    {"speed is not comparable", "速度不可比"},
    {"the program under test", "被测程序本身"},
    {"validity checks: {} hold", "有效性检查：{} 项成立"},
    {", {} do not", "，{} 项不成立"},
    {", {} observations", "，{} 项仅供观察"},
    {", {} not possible", "，{} 项无法检查"},

    // Scores
    {"{} of {} samples right, as {} states; its samples are not known",
     "据 {2} 所述，{1} 个样本中答对 {0} 个；样本明细未知"},
    {"{} of {} planned samples were answered, which makes no score",
     "计划的 {1} 个样本中只回答了 {0} 个，不构成得分"},
    {"no sample was asked", "没有提出任何样本"},
    {"{} of {} samples right ({} questions x {}), {} without a readable letter, {} cut at {} tokens, {} "
     "failed",
     "{1} 个样本中答对 {0} 个（{2} 题 × {3} 遍），{4} 个读不出字母，{5} 个在 {6} 个 token 处被截断，{7} "
     "个请求失败"},
    {"ended early: {} of {} samples decided, {} were sent, {:.0f} % saved",
     "提前结束：{1} 个样本中的 {0} 个已足以判定，共发出 {2} 个，节省 {3:.0f} %"},
    {"Wilson 95 % {:.4f} to {:.4f}", "Wilson 95 % 区间 {:.4f} 至 {:.4f}"},
    {"; repeats of a question agree with an intraclass correlation of {:.2f}, so all samples weigh as {:.0f} "
     "independent ones",
     "；同一题目的重复作答组内相关系数 {:.2f}，全部样本相当于 {:.0f} 个独立样本"},
    {"; standard error {:.4f} of a rerun of these questions", "；重复提问同一批题目的标准误 {:.4f}"},
    {"; standard error {:.4f} over other questions like these", "；换成同类题目的标准误 {:.4f}"},
    {"same answers, strict {}, compat {}; {} decides",
     "同一批答案：strict 评分器 {}，compat 评分器 {}；以 {} 为准"},
    {"by domain: {}", "按领域：{}"},
    {"no domain", "无领域"},
    {"{}, prompt {}, {} API, reasoning effort {}, temperature {}, {:.0f} s",
     "{}，提示词 {}，{} 接口，推理强度 {}，温度 {}，用时 {:.0f} 秒"},

    // Loads
    {"figures of {}", "{} 给出的数据"},
    {", {} requests completed and {} failed", "，{} 个请求成功，{} 个失败"},
    {", {:.1f} tokens an answer", "，平均每个答案 {:.1f} 个 token"},
    {", {:.1f} requests in flight", "，平均并发 {:.1f} 个请求"},
    {"{:g} requests/s", "每秒 {:g} 个请求"},
    {"all at once", "一次性全部发出"},
    {"{}, at most {} in flight", "{}，并发上限 {}"},
    {"{} in flight", "并发 {}"},
    {"{} requests of {} in / {} out tokens, {}, {} warm-up, {:.1f} s, client at {:.0f} % of a core",
     "{} 个请求，输入 {} / 输出 {} 个 token，{}，预热 {} 个，用时 {:.1f} 秒，客户端占用 {:.0f} % 的单核"},

    // What was left out
    {"Shortened to fit here. Left out: {}. Everything is in report.html and verdict.json.",
     "为满足篇幅限制已作删减。省略：{}。完整内容见 report.html 与 verdict.json。"},
    {"{} lines of what fails", "{} 行失败项"},
    {"{} rows that pass", "{} 行通过项"},
    {"{} observations", "{} 个观察项"},
    {"{} validity checks that hold", "{} 项成立的有效性检查"},
    {"{} details", "{} 条细节"},
    {"the tables", "表格"},

    // Plots
    {"Which questions flipped", "答案发生翻转的题目"},
    {"Questions", "题目"},
    {"right {}", "答对 {}"},
    {"wrong {}", "答错 {}"},
    {"lost {}", "由对变错 {}"},
    {"won {}", "由错变对 {}"},
    {"lost", "由对变错"},
    {"won", "由错变对"},
    {"{}: {} questions", "{}：{} 题"},
    {"Accuracy by domain, Wilson 95 %", "各领域准确率，Wilson 95 % 区间"},
    {"share of requests", "请求占比"},
    {"output tokens per second", "每秒输出 token 数"},
    {"Throughput over time", "吞吐随时间变化"},
    {"Time to first token (TTFT)", "首 token 时延（TTFT）"},
    {"Time per output token (TPOT)", "每输出 token 时延（TPOT）"},
    {"End-to-end latency (E2EL)", "端到端时延（E2EL）"},
    {"{} further cells are without plots here.", "另有 {} 个单元未绘制图表。"},

    // Trends
    {"Trends", "历史趋势"},
    {"runs, oldest first", "历次运行，由旧到新"},
    {"worse", "变差"},
    {"better", "变好"},
    {"not compared across", "前后不作比较"},
    {"{} from {}: {}", "自 {1} 起{0}：{2}"},
    {"Trends: {}. Cells: {}.", "趋势 {} 条，单元 {} 个。"},
    {"runs", "运行次数"},
    {"first", "最早"},
    {"newest", "最新"},
    {"changes", "变化次数"},
    {"newest run", "最新运行"},

    // Definitions
    {"FAIL", "FAIL"},
    {" needs evidence: the score is below its limit, the server broke, or the whole 95 % interval lies "
     "beyond the margin and, for a speed, that holds above the noise of equal code and among all primary "
     "speeds of the run.",
     "（失败）需要证据：得分低于门限、服务器出错，或整个 95 % "
     "区间都超出容差；对速度而言，还须高于相同代码的噪声，并在本次运行的全部主要速度指标中成立。"},
    {"PASS", "PASS"},
    {" needs evidence too: a loss of the margin's size is excluded. INCONCLUSIVE is neither. INVALID means "
     "that the "
     "measurement is broken and says nothing.",
     "（通过）同样需要证据：已排除达到容差大小的退化。INCONCLUSIVE（无法判定）两者皆非。INVALID（无效）表示测"
     "量本身有"
     "问题，不能说明任何结论。"},
    {"Accuracy change", "准确率变化"},
    {" is in points of the score (0.01), paired question by question with the baseline; its interval counts "
     "only the "
     "questions whose answers differ.",
     "以得分的百分点（0.01）计，与基线逐题配对；其区间只计入答案不同的题目。"},
    {"Speed change", "速度变化"},
    {" compares one run with the mean of earlier runs on the same machine with equal flags and model; its "
     "interval "
     "is where one more run like those would fall. Too few earlier runs (three, unless the config says "
     "otherwise) "
     "decide nothing.",
     "是将一次运行与同一台机器上、参数和模型相同的历史运行的均值相比；其区间是再运行一次时结果应落入的范围。"
     "历史运行"
     "过少（除非配置另有规定，少于三次）时不作判定。"},
    {"Finds from", "最小可检出"},
    {" is the smallest true loss that this comparison finds four times in five. One above the margin means "
     "that the "
     "noise hides what the gate is asked to see.",
     "是此对比五次中能发现四次的最小真实退化。若它大于容差，说明噪声掩盖了门禁想要发现的退化。"},
    {"Observations", "观察项"},
    {" are shown and decide nothing: metrics that the config does not call primary, and a p99 of fewer than "
     "299 "
     "requests.",
     "只展示、不参与判定：配置中未列为主要指标的指标，以及请求数少于 299 的 p99。"},
    {"TTFT", "TTFT"},
    {" is the time from sending a request to its first chunk.", "：从发出请求到收到第一个数据块的时间。"},
    {"TPOT", "TPOT"},
    {" is the time from the first chunk to the last, divided by one less than the number of output tokens.",
     "：从第一个数据块到最后一个数据块的时间，除以输出 token 数减一。"},
    {"E2EL", "E2EL"},
    {" is the time from sending a request to its last chunk.", "：从发出请求到收到最后一个数据块的时间。"},
};

}  // namespace

std::span<const Phrase> ChinesePages() {
  return kPhrases;
}

}  // namespace assay::reports
