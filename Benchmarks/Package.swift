// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// As strict as the product itself.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The rival is optional: without libsimdjson-dev its benchmarks say so instead of running.
let hasSimdjson = FileManager.default.fileExists(atPath: "/usr/include/simdjson.h")

#if arch(x86_64)
/// simdjson's on-demand front end is compiled for one kernel; the best that its library chooses at run time is this one
/// (checked before use).
let simdjsonKernel = ["-march=haswell"]
#else
let simdjsonKernel: [String] = []
#endif

/// One benchmark executable per stage, in data-flow order.
let stages = ["Decode", "Map", "Ring", "Window", "FHIR", "EndToEnd"]

let benchmarks: [Target] = stages.map { stage in
    .executableTarget(
        name: "\(stage)Benchmarks",
        dependencies: [
            .product(name: "Benchmark", package: "benchmark"),
            .product(name: "KymographCore", package: "kymograph"),
            "CLimits", "CSimdjson", "Readings",
        ],
        path: "Benchmarks/\(stage)Benchmarks",
        swiftSettings: strict,
        plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
}

let package = Package(
    name: "kymograph-benchmarks",
    dependencies: [
        .package(name: "kymograph", path: "../"),
        // Without its default trait, which needs jemalloc; the gate counts allocations itself.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        .target(name: "CLimits"),
        .target(
            name: "CSimdjson",
            cxxSettings: hasSimdjson ? [.unsafeFlags(simdjsonKernel)] : [],
            linkerSettings: hasSimdjson ? [.linkedLibrary("simdjson")] : []),
        .target(
            name: "Readings",
            dependencies: [.product(name: "KymographCore", package: "kymograph"), "CLimits"],
            resources: [.embedInCode("device.json"), .embedInCode("fhir.json")],
            swiftSettings: strict),
        .executableTarget(
            name: "StageTable",
            dependencies: [
                .product(name: "KymographCore", package: "kymograph"), "CLimits", "CSimdjson", "Readings",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "StageProbe",
            dependencies: [.product(name: "KymographCore", package: "kymograph"), "CLimits", "Readings"],
            swiftSettings: strict),
        .executableTarget(
            name: "LaneProbe",
            dependencies: [
                .product(name: "Kymograph", package: "kymograph"),
                .product(name: "KymographCore", package: "kymograph"),
            ],
            swiftSettings: strict),
    ] + benchmarks,
    cxxLanguageStandard: .cxx17
)
