#include <limits>

#include "wire/chat.h"
#include "wire/error_shapes.h"
#include "wire/json_fields.h"

namespace assay::wire {

using nlohmann::json;

json ModelListJson(const std::vector<ModelCard>& models, int64_t created) {
  json data = json::array();
  for (const ModelCard& model : models) {
    data.push_back({{"id", model.id},
                    {"object", "model"},
                    {"created", created},
                    {"owned_by", "assay"},
                    {"root", model.id},
                    {"parent", nullptr},
                    {"max_model_len", model.max_model_len},
                    {"permission", json::array()}});
  }
  return {{"object", "list"}, {"data", std::move(data)}};
}

Result<std::vector<ModelCard>> ParseModelList(std::string_view body) {
  constexpr ErrorKind kKind = ErrorKind::kInfrastructure;
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(body, kKind, "model list"));
  if (const std::optional<ErrorBody> error = FindError(object)) {
    return Fail(kKind, "model list: the server answered with an error: {}", error->message);
  }
  JsonFields fields(object, kKind);
  std::vector<ModelCard> models;
  const json* data = fields.Find("data");
  if (data == nullptr || !data->is_array()) {
    fields.WrongType("data", "a list of models");
    RETURN_IF_ERROR(fields.Check());
  }
  for (size_t i = 0; i < data->size(); ++i) {
    const std::string name = fmt::format("data[{}]", i);
    const json& item = (*data)[i];
    if (!item.is_object()) return Fail(kKind, "{}: an object is needed, not {}", name, Excerpt(item));
    JsonFields card(item, kKind, name);
    ModelCard model;
    card.Text("id", &model.id);
    if (model.id.empty()) card.Wrong("id", "a model name is needed");
    card.Integer("max_model_len", &model.max_model_len, 0, std::numeric_limits<int64_t>::max());
    RETURN_IF_ERROR(card.Check());
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace assay::wire
