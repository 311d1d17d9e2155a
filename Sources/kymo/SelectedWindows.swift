import Kymograph
import KymographCore
import KymographTestKit

/// The windows that the options of `kymo query` and `kymo export` select, latest start first: closed ones, and with
/// `--open` those that are open as well.
struct SelectedWindows: ~Copyable {
    /// Windows that are read at a time.
    private static let page = 500

    private let reader: StoreReader
    private let filter: ArchiveFilter
    private let ids: [String]
    /// Whether earlier windows were passed over: they may have ids that are not met.
    private let isContinued: Bool
    /// Which of the ids have been met.
    private var isFound: [Bool]
    /// What finds ids; nil when none are asked for.
    private var encoder: ArchiveEncoder?
    private var cursor: ArchiveCursor?
    private var isEnded = false
    /// Windows that were looked through for ids and are damaged.
    private var damaged = 0
    /// The open windows, as they were when the first windows were read.
    private(set) var open: OpenSelection

    /// Those of `options` in `reader`, behind `cursor`.
    init(_ options: ArchiveOptions, _ reader: StoreReader, after cursor: ArchiveCursor? = nil) throws {
        let filter = try options.filter(reader)
        // What can fail comes before all that is kept: there is no half of a type that cannot be copied.
        let encoder = try options.finder(reader)
        self.encoder = encoder
        open = OpenSelection(isAsked: options.open)
        (self.reader, self.filter, self.cursor, ids) = (reader, filter, cursor, options.id)
        isContinued = cursor != nil
        isFound = options.id.map { _ in false }
    }

    /// The next `limit`, fewer at the end.
    mutating func next(_ limit: Int) throws -> [ArchivedWindow] {
        var found: [ArchivedWindow] = []
        while found.count < limit, !isEnded {
            let asked = ids.isEmpty ? limit - found.count : Self.page
            let windows = try read(asked)
            isEnded = windows.count < asked
            for window in windows {
                guard found.count < limit else {
                    isEnded = false
                    break
                }
                self.cursor = window.cursor
                if has(window) { found.append(window) }
            }
        }
        return found
    }

    private mutating func read(_ count: Int) throws -> [ArchivedWindow] {
        let (filter, cursor) = (filter, cursor)
        var open = open
        defer { self.open = open }
        return try StandardError.translating { [reader] () throws(PipelineError) in
            try reader.windows(filter, with: &open, after: cursor, limit: count)
        }
    }

    /// Whether all windows were read, and an id was met in none of them.
    var lacksID: Bool { isEnded && isFound.contains(false) }

    /// The ids of which it is known that no window has them: all windows were read.
    private var absentIDs: [String] {
        guard isEnded, !isContinued else { return [] }
        return ids.indices.filter { !isFound[$0] }.map { ids[$0] }
    }

    /// That no window has an id that is asked for, and what that may be due to; nil when all have been met.
    func absence(_ archive: ArchiveOptions) -> String? {
        let names = absentIDs.map { "'\(PrintableText.line($0))'" }
        guard !names.isEmpty else { return nil }
        let rest = archive.selectsWindows ? ", among the windows that the other options select" : ""
        return "the store has no Observation with the id or identifier \(names.joined(separator: ", "))\(rest)\(doubts)"
    }

    private var doubts: String {
        let open = open.isAsked ? "" : "; --open looks at open windows, too"
        let unread = CountText.of(damaged, one: "window is", many: "windows are")
        return (damaged > 0 ? "; \(unread) damaged and cannot be looked through" : "") + open
    }

    /// Whether `observation` is one of those that are asked for.
    func isWanted(_ observation: [UInt8]) -> Bool {
        ids.isEmpty || !named(by: observation).isEmpty
    }

    /// The places of the ids that `observation` has.
    private func named(by observation: [UInt8]) -> [Int] {
        guard let tree = try? JSONTree(parsing: observation) else { return [] }
        let identifiers = (tree["identifier"]?.elements ?? []).flatMap { identifier -> [String?] in
            let value = identifier["value"]?.text
            return [value, value.map { "\(identifier["system"]?.text ?? "")|\($0)" }]
        }
        let names = ([tree["id"]?.text] + identifiers).compactMap { $0 }
        // By their bytes: the same text may be written in several ways.
        return ids.indices.filter { place in names.contains { $0.utf8.elementsEqual(ids[place].utf8) } }
    }

    private mutating func has(_ window: ArchivedWindow) -> Bool {
        guard !ids.isEmpty else { return true }
        guard let observations = encoder?.observations(of: window) else {
            damaged += 1
            return false
        }
        let places = observations.flatMap { named(by: $0) }
        for place in places { isFound[place] = true }
        return !places.isEmpty
    }
}
