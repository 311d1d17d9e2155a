import KymographCore
import KymographTemplates

/// Decides on each version of a resource whether sinks get it, and with which members besides those of its template,
/// behind the rules of the configuration (docs/rules.md).
///
/// It is asked on the thread of the shard that has made the resource, several at once. Windows that no sink gets are
/// archived all the same, and counted as vetoed (`kymo_windows_vetoed_total`).
public protocol EntryHook: Sendable {
    /// Its name in counters: as that of a ``ReadingHook``.
    var name: String { get }

    /// What it may add to Observations, 64 patches at most. Each is a JSON object as `set` of a rule has it:
    /// `{"tag": [{"system": "urn:study", "code": "s1"}]}`. Asked once, when the engine is made. Default: none.
    var patches: [String] { get }

    /// Whether no sink gets `resource`, an Observation or what else a template makes, in JSON: as the template has it,
    /// with references by identifier. Never asked whether readings may be taken back (`entered-in-error`): of a
    /// resource that was vetoed in each of its versions, no sink hears that, and of others all must.
    func isVetoed(_ resource: [UInt8]) -> Bool

    /// Whether `resource`, which was an error (`entered-in-error`), is deleted on no server: one with `emptied: delete`
    /// gets it with that status, as others do. Asked whatever servers there are, since their setting is that of the
    /// time of sending. With `output.attachOver` it is asked of later versions of other windows, too: there the answer
    /// is about DocumentReferences that have lost their samples. Default: no.
    func isDeletionVetoed(_ resource: [UInt8]) -> Bool

    /// Which of ``patches`` `resource` gets, by their places. Asked for what is not vetoed, and for what was an error,
    /// if there are patches. One that names a place which there is not has the resource vetoed: nobody can tell what it
    /// was to say. Default: none.
    func patches(for resource: [UInt8]) -> [Int]
}

extension EntryHook {
    /// None.
    public var patches: [String] { [] }

    /// No.
    public func isDeletionVetoed(_ resource: [UInt8]) -> Bool { false }

    /// None.
    public func patches(for resource: [UInt8]) -> [Int] { [] }
}

/// Asks a program's hook.
final class HookedEntries: EntryInterceptor {
    private let hook: any EntryHook
    let name: String
    let patches: [EntryPatch]

    /// Asks `hook`, whose patches are read; what is wrong with them is told to `problem`.
    init(_ hook: any EntryHook, problem: (_ message: String, _ advice: String) -> Void) {
        self.hook = hook
        name = hook.name
        let texts = hook.patches
        guard texts.count <= EntryRuleDecider.most else {
            patches = []
            problem(
                "it has \(texts.count) patches", "leave \(EntryRuleDecider.most) or fewer: a resource may get several")
            return
        }
        patches = texts.enumerated().map { place, text in
            var log = DiagnosticLog(file: "patch \(place)")
            defer { for found in log.all { problem("patch \(place): \(found.message)", found.advice) } }
            return JSONNode.parse(Array(text.utf8), log: &log).map { PatchReader.read($0, log: &log) } ?? EntryPatch()
        }
    }

    func vetoes(_ resource: ByteView) -> Bool { hook.isVetoed(resource.array) }

    func keeps(_ resource: ByteView) -> Bool { hook.isDeletionVetoed(resource.array) }

    func patches(for resource: ByteView) -> UInt64? {
        var bits: UInt64 = 0
        for place in hook.patches(for: resource.array) {
            guard patches.indices.contains(place) else { return nil }
            bits |= 1 << UInt64(place)
        }
        return bits
    }
}
