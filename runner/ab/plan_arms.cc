#include "runner/ab/plan_arms.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/secrets.h"
#include "base/text.h"
#include "runner/plan/config_files.h"
#include "runner/run/server_models.h"

namespace assay::runner {
namespace {

// What both sides must name alike.
struct Way {
  std::string ArmSource::*member;
  const char* base_flag;
  const char* head_flag;
};
constexpr Way kWays[] = {
    {&ArmSource::ref, "--base", "--head"},
    {&ArmSource::program, "--base-binary", "--head-binary"},
    {&ArmSource::config, "--base-config", "--head-config"},
    {&ArmSource::url, "--base-url", "--head-url"},
};

Result<const Way*> ChooseWay(const AbOptions& options) {
  const Way* chosen = nullptr;
  for (const Way& way : kWays) {
    const std::string &base = options.base.*(way.member), &head = options.head.*(way.member);
    if (base.empty() && head.empty()) continue;
    if (base.empty() || head.empty()) {
      return Fail(ErrorKind::kUsage, "{} is missing beside {}", base.empty() ? way.base_flag : way.head_flag,
                  base.empty() ? way.head_flag : way.base_flag);
    }
    if (chosen != nullptr) {
      return Fail(ErrorKind::kUsage, "{} and {}: both arms are named twice; leave one pair away",
                  chosen->base_flag, way.base_flag);
    }
    chosen = &way;
  }
  if (chosen != nullptr) return chosen;
  return Fail(ErrorKind::kUsage,
              "nothing to compare: give --base and --head (git refs), --base-binary and --head-binary, "
              "--base-config and --head-config, or --base-url and --head-url");
}

Result<Config> LoadOne(const Path& file) {
  ASSIGN_OR_RETURN(std::vector<Config> configs, LoadConfigs({file}));
  if (configs.size() == 1) return std::move(configs.front());
  return Fail(ErrorKind::kUsage, "{}: holds {} configs; assay ab compares two arms of one", file.string(),
              configs.size());
}

Status CheckConfigFlags(const AbOptions& options, bool own_configs) {
  if (own_configs && !options.config.empty()) {
    return Fail(ErrorKind::kUsage, "{}: each arm has a config of its own; leave this one away",
                options.config.string());
  }
  if (own_configs || !options.config.empty()) return {};
  return Fail(ErrorKind::kUsage,
              "config is required: what both arms are asked; assay ab --help shows every flag");
}

Result<ArmPlan> PlanRef(const AbOptions& options, const ArmSource& source, const char* name, Config config,
                        const Path& work) {
  BuildPlan build{.repository = options.repository,
                  .ref = source.ref,
                  .folder = std::filesystem::absolute(work / name).lexically_normal(),
                  .command = options.build,
                  .log_file = std::filesystem::absolute(work / (std::string(name) + ".build.log"))};
  ASSIGN_OR_RETURN(const Path checkout, CheckoutOf(options.repository));
  ArmPlan plan;
  ASSIGN_OR_RETURN(plan.arm.commit, ResolveCommit(checkout, source.ref));
  plan.arm.what = "git " + source.ref;
  build.program = options.program;
  if (build.program.empty()) {
    ASSIGN_OR_RETURN(build.program, ProgramWithinCheckout(config, checkout));
  }
  plan.cell.config = WithProgram(std::move(config), build.folder / build.program);
  plan.build = std::move(build);
  return plan;
}

Result<ArmPlan> PlanArm(const AbOptions& options, const Way& way, const ArmSource& source, const char* name,
                        const Path& work) {
  ASSIGN_OR_RETURN(Config config, LoadOne(source.config.empty() ? options.config : Path(source.config)));
  ArmPlan plan;
  if (way.member == &ArmSource::ref) {
    ASSIGN_OR_RETURN(plan, PlanRef(options, source, name, std::move(config), work));
  } else if (way.member == &ArmSource::program) {
    plan.arm.what = "program " + source.program;
    plan.cell.config = WithProgram(std::move(config), std::filesystem::absolute(source.program));
  } else {
    const bool runs = way.member == &ArmSource::url;
    if (runs) plan.url = WithoutV1(source.url);
    plan.arm.what = runs ? "server " + HideUserInfo(plan.url) : "config " + source.config;
    plan.cell.config = std::move(config);
  }
  plan.arm.name = name;
  ASSIGN_OR_RETURN(std::vector<Cell> cells, PlanConfigs({plan.cell.config}, options.suite, options.hardware));
  plan.cell = std::move(cells.front());
  // The pairs are the steps in which a comparison may end early.
  if (auto& gpqa = plan.cell.config.evals.gpqa) gpqa->stop = "never";
  return plan;
}

// What giving two configs means to differ. Other hardware is never meant.
std::vector<std::string> Declared(const Config& base, const Config& head) {
  std::vector<std::string> fields = head.gate.declared_differences;
  fields.emplace_back("engine_flags");
  if (base.engine.model != head.engine.model) fields.emplace_back("model_hash");
  if (base.engine.model != head.engine.model || base.engine.tokenizer != head.engine.tokenizer)
    fields.emplace_back("tokenizer_hash");
  return fields;
}

}  // namespace

Result<ArmPlans> PlanArms(const AbOptions& options, const Path& work) {
  ASSIGN_OR_RETURN(const Way* way, ChooseWay(options));
  const bool own_configs = way->member == &ArmSource::config;
  RETURN_IF_ERROR(CheckConfigFlags(options, own_configs));
  ArmPlans plans;
  ASSIGN_OR_RETURN(plans.base, PlanArm(options, *way, options.base, "base", work));
  ASSIGN_OR_RETURN(plans.head, PlanArm(options, *way, options.head, "head", work));
  plans.base.cell.key = plans.head.cell.key;  // two configs have two names, and are one comparison
  plans.policy = plans.head.cell.config.gate;
  plans.policy.strict = options.strict;
  if (options.accuracy_margin) plans.policy.accuracy.margin = *options.accuracy_margin;
  if (options.performance_margin) plans.policy.performance.margin = *options.performance_margin;
  if (own_configs)
    plans.policy.declared_differences = Declared(plans.base.cell.config, plans.head.cell.config);
  return plans;
}

}  // namespace assay::runner
