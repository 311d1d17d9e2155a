#include "CSimdjson.h"

#if __has_include(<simdjson.h>)

#include <simdjson.h>

using namespace simdjson;

struct rival_parser {
    ondemand::parser parser;
};

extern "C" {

/// The front end was compiled for one kernel: ask whether this processor has its instructions.
static bool is_supported() {
#ifdef __AVX2__
    return __builtin_cpu_supports("avx2");
#else
    return true;
#endif
}

rival_parser *rival_create(void) { return is_supported() ? new rival_parser() : nullptr; }

void rival_destroy(rival_parser *parser) { delete parser; }

const char *rival_kernel(void) {
    static std::string name = SIMDJSON_STRINGIFY(SIMDJSON_BUILTIN_IMPLEMENTATION) " front end, "
        + get_active_implementation()->name() + " index, simdjson " SIMDJSON_STRINGIFY(SIMDJSON_VERSION);
    return is_supported() ? name.c_str() : "not run: this processor lacks the kernel's instructions";
}

size_t rival_padding(void) { return SIMDJSON_PADDING; }

int rival_scan(rival_parser *parser, const uint8_t *bytes, size_t length, double *sum) {
    ondemand::document document;
    ondemand::object object;
    std::string_view text;
    double value;
    auto input = reinterpret_cast<const char *>(bytes);
    if (parser->parser.iterate(input, length, length + SIMDJSON_PADDING).get(document)) return 1;
    if (document.get_object().get(object)) return 2;
    if (object.find_field_unordered("deviceId").get_string().get(text)) return 3;
    *sum += double(text.size());
    if (object.find_field_unordered("patientId").get_string().get(text)) return 4;
    *sum += double(text.size());
    if (object.find_field_unordered("endDate").get_string().get(text)) return 5;
    *sum += double(text.size());
    if (object.find_field_unordered("heartRate").get_double().get(value)) return 6;
    *sum += value;
    return 0;
}

int rival_line(rival_parser *parser, const uint8_t *bytes, size_t length, int64_t *sum) {
    ondemand::document document;
    ondemand::object object;
    std::string_view text;
    int64_t value;
    auto input = reinterpret_cast<const char *>(bytes);
    if (parser->parser.iterate(input, length, length + SIMDJSON_PADDING).get(document)) return 1;
    if (document.get_object().get(object)) return 2;
    if (object.find_field_unordered("device").get_string().get(text)) return 3;
    *sum += int64_t(text.size());
    if (object.find_field_unordered("ts").get_int64().get(value)) return 4;
    *sum += value;
    if (object.find_field_unordered("type").get_string().get(text)) return 5;
    if (text == "bp") {
        if (object.find_field_unordered("sys").get_int64().get(value)) return 6;
        *sum += value;
        if (object.find_field_unordered("dia").get_int64().get(value)) return 7;
    } else if (object.find_field_unordered("value").get_int64().get(value)) {
        return 8;
    }
    *sum += value;
    return 0;
}
}

#else

extern "C" {
rival_parser *rival_create(void) { return nullptr; }
void rival_destroy(rival_parser *) {}
const char *rival_kernel(void) { return "not run: libsimdjson-dev was not there when this was built"; }
size_t rival_padding(void) { return 64; }
int rival_scan(rival_parser *, const uint8_t *, size_t, double *) { return -1; }
int rival_line(rival_parser *, const uint8_t *, size_t, int64_t *) { return -1; }
}

#endif
