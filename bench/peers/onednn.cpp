// SPDX-License-Identifier: MIT
//
// oneDNN's softmax and log_softmax of rows, float, one thread; the primitive is made once for each shape. 2 and 3 differ in
// how it is described.
#include "peers/peer.hpp"

#include <omp.h>

#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>

namespace {

using shape = std::pair<std::size_t, std::size_t>;

class rowwise {
 public:
  rowwise(shape s, bool logarithm) : stream_(engine()) {
    const dnnl::memory::desc rows({dnnl::memory::dim(s.first), dnnl::memory::dim(s.second)},
                                  dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
    constexpr auto kind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
    primitive_ = dnnl::softmax_forward(
        {engine(), kind,
         logarithm ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate, rows, rows,
         1});
#else
    if (logarithm) {
      primitive_ = dnnl::logsoftmax_forward({{kind, rows, 1}, engine()});
    } else {
      primitive_ = dnnl::softmax_forward({{kind, rows, 1}, engine()});
    }
#endif
    x_ = dnnl::memory(rows, engine(), nullptr);
    out_ = dnnl::memory(rows, engine(), nullptr);
  }

  void operator()(const float* x, float* out) {
    x_.set_data_handle(const_cast<float*>(x));
    out_.set_data_handle(out);
    primitive_.execute(stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DST, out_}});
    stream_.wait();
  }

 private:
  static const dnnl::engine& engine() {
    static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
  }
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  dnnl::memory x_, out_;
};

template <bool Logarithm>
void of_rows(const float* x, float* out, std::size_t rows, std::size_t n) {
  static std::map<shape, rowwise> made;
  auto place = made.find({rows, n});
  if (place == made.end()) {
    omp_set_num_threads(1);
    place = made.try_emplace({rows, n}, shape{rows, n}, Logarithm).first;
  }
  place->second(x, out);
}

template <bool Logarithm>
void of_vector(const float* x, float* out, std::size_t n) {
  of_rows<Logarithm>(x, out, 1, n);
}

}  // namespace

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* onednn() {
  const dnnl_version_t* const v = dnnl::version();
  static const std::string name = "oneDNN-" + std::to_string(v->major) + "." +
                                  std::to_string(v->minor) + "." + std::to_string(v->patch);
  static const peer all{name.c_str(),
                        {.softmax = of_vector<false>,
                         .log_softmax = of_vector<true>,
                         .softmax_rows = of_rows<false>,
                         .log_softmax_rows = of_rows<true>}};
  return &all;
}
}  // namespace bench::peer_list
