import KymographCore

/// Notices changes of the configuration file, of the files that it includes, and of files that come to match a pattern
/// of `include`, by their stamps as ``FileWatch`` does.
///
/// A wrong mapping stops nothing, but half a configuration may end sources. So a change must last for longer, and a
/// file that ends in the middle of a line is not complete.
struct ConfigurationWatch: Sendable {
    private struct Look: Equatable {
        var path: String
        var stamp: FileStamp?
    }

    private let files: [String]
    private let patterns: [String]
    /// Of what was read last; nil before anything was, so that the first look finds a change.
    private var read: [Look]?
    /// At the last look, and how many looks have seen the same.
    private var seen: [Look] = []
    private var calm = 0

    /// Looks in a row, each ``MappingReloader/interval`` after the other, that must see the same.
    private static let calmLooks = 3

    private static let newline = UInt8(ascii: "\n")
    private static let blank = [UInt8(ascii: " "), UInt8(ascii: "\t")]

    /// A watch on the file at `path` and on what `settings`, which were read from it, have included.
    init(_ path: String, _ settings: PipelineSettings) {
        files = [path] + settings.configurationFiles.filter { $0 != path }
        patterns = settings.includes
    }

    /// The files as they are now.
    private var now: [Look] {
        let found = patterns.flatMap { FileSystem.matching($0) }.filter { !files.contains($0) }
        return (files + found).map { Look(path: $0, stamp: FileStamp($0)) }
    }

    /// Looks at the files; gives one that is not as it was when it was read, once all have stayed the same for some
    /// looks: until then they may be half written.
    mutating func settledChange() -> String? {
        let now = now
        calm = now == seen ? calm + 1 : 1
        seen = now
        guard calm >= Self.calmLooks, now != read else { return nil }
        return now.first { look in read.map { !$0.contains(look) } ?? true }?.path ?? files[0]
    }

    /// Whether nothing was read yet since this watch began.
    var isFirst: Bool { read == nil }

    /// Notes that the files are going to be read as they are now.
    mutating func noteReading() { read = now }

    /// Notes that they were read before they had stayed the same, so that nothing counts as read.
    mutating func noteHaste() { (read, seen, calm) = (nil, [], 0) }

    /// Whether a file is no longer as it was when it was read.
    var hasChanged: Bool { now != read }

    /// Whether both look at the same files.
    func hasFiles(of other: ConfigurationWatch) -> Bool { files == other.files && patterns == other.patterns }

    /// Why what the files say may be a part of what they are going to say; nil when they are complete.
    var incompleteness: String? {
        for file in files {
            let content = FileSystem.content(file) ?? []
            guard let last = content.last(where: { !Self.blank.contains($0) }) else {
                return "\(file) is empty"
            }
            guard last == Self.newline || Self.isWholeDocument(content) else {
                return "\(file) ends in the middle of a line"
            }
        }
        return nil
    }

    /// Whether it is one document in brackets, as of JSON, which need not end in a newline.
    private static func isWholeDocument(_ content: [UInt8]) -> Bool {
        let marks = content.filter { !blank.contains($0) && $0 != newline && $0 != UInt8(ascii: "\r") }
        return switch (marks.first, marks.last) {
        case (UInt8(ascii: "{"), UInt8(ascii: "}")), (UInt8(ascii: "["), UInt8(ascii: "]")): true
        default: false
        }
    }
}
