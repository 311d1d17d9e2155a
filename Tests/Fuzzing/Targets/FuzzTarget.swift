import Foundation

/// A reader of foreign bytes, and what must hold whatever they are.
struct FuzzTarget: Sendable {
    /// As one writes it: `make fuzz TARGETS=name`.
    var name: String
    /// Most bytes of an input.
    var longest: Int
    /// Whether it is run when no target is named.
    var isListed = true
    /// Reads an input; ends the process where something does not hold.
    var run: @Sendable ([UInt8]) -> Void
    /// Makes what inputs share, before the first one: it may take longer than an input may.
    var prepare: @Sendable () -> Void = {}

    /// All of them.
    static let all: [FuzzTarget] =
        documents + expressions + streams + doors + devices + mappings + settings + servers + storage + texts + [proof]

    /// Fails for inputs that begin with `bug`: by it fuzz.py shows that it tells when a target fails.
    private static let proof = FuzzTarget(name: "broken", longest: 16, isListed: false) { bytes in
        demand(!bytes.starts(with: Array("bug".utf8)), "the target that fails on purpose")
    }
}

/// The target of this process.
enum ChosenTarget {
    private static let target = ProcessInfo.processInfo.environment["KYMO_FUZZ_TARGET"].flatMap { name in
        FuzzTarget.all.first { $0.name == name }
    }

    static var isKnown: Bool { target != nil }

    static func prepare() { target?.prepare() }

    static func run(_ bytes: [UInt8]) { target?.run(bytes) }
}

/// Ends the process with `message`, which libFuzzer reports together with the input, unless `condition` holds.
func demand(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fatalError(message()) }
}
