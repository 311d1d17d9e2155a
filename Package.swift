// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Every target is built the same strict way: a warning, an unmarked unsafe expression or a stray import is an error.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Tests spend most of their time in the core, and in reading its output. With `KYMO_TESTS_OPTIMISED=1`, as `make test` has
/// it, debug builds of these are optimised, and keep their assertions. No default, since packages that depend on this one
/// may not have unsafe flags.
let optimisedInTests: [SwiftSetting] =
    Context.environment["KYMO_TESTS_OPTIMISED"] == "1"
    ? strict + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : strict

/// libFuzzer's library, which `make fuzz` names: these modules tell it then where inputs lead, and keep their assertions.
let libFuzzer = Context.environment["KYMO_FUZZ"] ?? ""
let fuzzed: [SwiftSetting] =
    libFuzzer.isEmpty
    ? [] : [.unsafeFlags(["-sanitize=fuzzer", "-assert-config", "Debug", "-enable-testing"])]
let fuzzedC: [CSetting] = libFuzzer.isEmpty ? [] : [.unsafeFlags(["-fsanitize=fuzzer-no-link"])]

/// The commit that is built, which `make build` names: `kymo --version` and the metrics tell it. One C file knows it, so
/// that another commit compiles nothing else again.
let commit = Context.environment["KYMO_COMMIT"] ?? ""

let package = Package(
    name: "kymograph",
    products: [
        .executable(name: "kymo", targets: ["kymo"]),
        .library(name: "Kymograph", targets: ["Kymograph"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        .target(name: "CSIMD"),
        .target(name: "CPrefetch"),
        .target(
            name: "KymographCore", dependencies: ["CSIMD", "CPrefetch"], swiftSettings: optimisedInTests + fuzzed),
        .target(
            name: "KymographTemplates", dependencies: ["KymographCore"], swiftSettings: optimisedInTests + fuzzed),
        .target(name: "CKymographLinux", cSettings: commit.isEmpty ? [] : [.define("KYMO_COMMIT", to: commit)]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CSeal", linkerSettings: [.linkedLibrary("crypto")]),
        .target(
            name: "CSQLiteChecksums", dependencies: ["CKymographLinux", "CSeal"],
            linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .target(
            name: "CDatagramTLS", dependencies: ["CKymographLinux", "CSeal"], cSettings: fuzzedC,
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .target(
            name: "CSealedDatagrams", dependencies: ["CSeal"], linkerSettings: [.linkedLibrary("crypto")]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        // Needs the headers of libcurl4-openssl-dev; the library is loaded at run time.
        .target(name: "CCurl"),
        // Need no headers; libpq and librdkafka are loaded at run time.
        .target(name: "CPostgres"),
        .target(name: "CKafka"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "Kymograph",
            dependencies: [
                "KymographCore", "KymographTemplates", "CKymographLinux", "CSeal", "CDatagramTLS", "CSealedDatagrams",
                "CSQLiteChecksums", "CZstd",
                "COpenSSL", "CCurl", "CPostgres", "CKafka", "CSQLite", "CZlib",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict + fuzzed,
            plugins: ["EmbedMappingsPlugin"]),
        .executableTarget(name: "EmbedMappings", dependencies: ["CZstd"], swiftSettings: strict),
        .plugin(
            name: "EmbedMappingsPlugin", capability: .buildTool(), dependencies: ["EmbedMappings"],
            path: "Sources/EmbedMappingsPlugin"),
        .target(
            name: "KymographTestKit",
            dependencies: [
                "Kymograph", "KymographCore", .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            swiftSettings: optimisedInTests),
        // Linked in for what it leaves out; see its source.
        .target(name: "CNoICUData"),
        .executableTarget(
            name: "kymo",
            dependencies: [
                "Kymograph", "KymographTestKit", "CNoICUData",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            // Nothing in the commands is hot. Packages that depend on this one get the library, and so none of these flags.
            swiftSettings: strict + [.unsafeFlags(["-Osize"], .when(configuration: .release))]),
        .testTarget(
            name: "KymographCoreTests",
            dependencies: [
                "KymographCore", "KymographTemplates", "Kymograph", "KymographTestKit", "TrialSupport", "COpenSSL",
            ],
            exclude: [
                "Conformance/expected-differences.json", "Conformance/fhir-expected-differences.json",
                "Conformance/observation-expected-differences.json",
            ],
            swiftSettings: strict),
        .testTarget(name: "RingConcurrencyTests", dependencies: ["KymographCore"], swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: optimisedInTests),
        .testTarget(
            name: "KymographTests",
            dependencies: [
                "Kymograph", "CommandSupport", "TrialSupport", "KymographTestKit", "CKymographLinux", "CZstd",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ExtendingTests",
            dependencies: [
                "ExtendingExamples", "Kymograph", "KymographCore", "KymographTemplates", "CommandSupport",
            ],
            swiftSettings: strict),
        // These two see what a program sees that embeds the library.
        .target(
            name: "ExtendingExamples", dependencies: ["Kymograph"], path: "Tests/ExtendingExamples",
            packageAccess: false, swiftSettings: strict),
        .testTarget(name: "EmbeddingTests", dependencies: ["Kymograph"], packageAccess: false, swiftSettings: strict),
        .target(
            name: "CTestDTLS", path: "Tests/CTestDTLS",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        // The encoder for devices, as it is.
        .target(
            name: "CKymoSeal", path: "bridges", sources: ["kymo_seal.c"], publicHeadersPath: ".",
            linkerSettings: [.linkedLibrary("crypto")]),
        .target(name: "TrialSupport", path: "Tests/TrialSupport", swiftSettings: strict),
        .target(
            name: "CommandSupport",
            dependencies: ["KymographTestKit", "KymographCore", "CKymographLinux", "CTestDTLS", "CKymoSeal"],
            path: "Tests/CommandSupport",
            swiftSettings: strict),
        .testTarget(
            name: "KymoCommandTests",
            dependencies: [
                "kymo", "CommandSupport", "TrialSupport", "CSQLiteChecksums", "KymographTestKit", "KymographCore",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: [
                "Seal/pages.c", "Store/Migration/Version1", "Store/Migration/Version3", "Store/Migration/Version4",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "kymo", "CommandSupport", "TrialSupport", "KymographTestKit", "Kymograph", "KymographCore",
                "KymographTemplates",
            ],
            swiftSettings: strict),
    ]
)

// Measurements: of no use to packages that depend on this one, and with a dependency of their own. They are in this package
// because they measure what is not public.
if Context.environment["KYMO_BENCHMARKS"] == "1" { addBenchmarks() }

@MainActor func addBenchmarks() {
    let hasSimdjson = FileManager.default.fileExists(atPath: "/usr/include/simdjson.h")
    #if arch(x86_64)
    /// simdjson's on-demand front end is compiled for one kernel; the best that its library chooses at run time is this
    /// one (checked before use).
    let simdjsonKernel = ["-march=haswell"]
    #else
    let simdjsonKernel: [String] = []
    #endif
    let folder = "Benchmarks/Sources"
    package.cxxLanguageStandard = .cxx17
    // Without its default trait, which needs jemalloc; the gate counts allocations itself.
    package.dependencies.append(.package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []))
    package.targets += [
        .target(name: "CLimits", path: "\(folder)/CLimits"),
        // The rival is optional: without libsimdjson-dev its benchmarks say so instead of running.
        .target(
            name: "CSimdjson", path: "\(folder)/CSimdjson",
            cxxSettings: hasSimdjson ? [.unsafeFlags(simdjsonKernel)] : [],
            linkerSettings: hasSimdjson ? [.linkedLibrary("simdjson")] : []),
        .target(
            name: "Readings", dependencies: ["KymographCore", "KymographTemplates", "CLimits"],
            path: "\(folder)/Readings",
            resources: [.embedInCode("device.json"), .embedInCode("fhir.json")],
            swiftSettings: strict),
        .executableTarget(
            name: "StageTable", dependencies: ["KymographCore", "CLimits", "CSimdjson", "Readings"],
            path: "\(folder)/StageTable", swiftSettings: strict),
        .executableTarget(
            name: "StageProbe", dependencies: ["KymographCore", "CLimits", "Readings"],
            path: "\(folder)/StageProbe", swiftSettings: strict),
        .executableTarget(
            name: "DoorProbe", dependencies: ["Kymograph", "KymographCore", "Readings"],
            path: "\(folder)/DoorProbe", swiftSettings: strict),
        .executableTarget(
            name: "LaneProbe", dependencies: ["Kymograph", "KymographCore"],
            path: "\(folder)/LaneProbe", swiftSettings: strict),
        .executableTarget(
            name: "TimelineProbe", dependencies: ["Kymograph", "KymographCore", "KymographTestKit"],
            path: "\(folder)/TimelineProbe", swiftSettings: strict),
    ]
    // One benchmark executable per stage, in data-flow order.
    package.targets += ["Decode", "Map", "Ring", "Window", "FHIR", "EndToEnd"].map { stage in
        .executableTarget(
            name: "\(stage)Benchmarks",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"), "KymographCore", "CLimits", "CSimdjson", "Readings",
            ],
            path: "Benchmarks/Benchmarks/\(stage)Benchmarks",
            swiftSettings: strict,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    }
}

// What the test of rings needs, and nothing else: ThreadSanitizer wants all that it sees compiled anew.
if Context.environment["KYMO_ONLY_RINGS"] == "1" {
    let needed = ["CSIMD", "CPrefetch", "KymographCore", "RingConcurrencyTests"]
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
    package.dependencies = []
}

// The fuzz targets, with what they need and nothing else: the sanitizers want all that they see compiled again.
if !libFuzzer.isEmpty { addFuzzing() }

@MainActor func addFuzzing() {
    let folder = "Tests/Fuzzing"
    let others = ["kymo", "CNoICUData", "ExtendingExamples", "TrialSupport", "CommandSupport"]
    package.targets.removeAll { $0.type == .test || others.contains($0.name) }
    package.products = []
    package.targets += [
        .target(
            name: "CFuzzer", dependencies: ["CDatagramTLS", "CKymographLinux", "CSeal", "CTestDTLS"],
            path: "\(folder)/CFuzzer"),
        .executableTarget(
            name: "Fuzzing",
            dependencies: ["CFuzzer", "Kymograph", "KymographCore", "KymographTemplates", "KymographTestKit"],
            path: "\(folder)/Targets",
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags([libFuzzer, "-lstdc++"])]),
    ]
}
