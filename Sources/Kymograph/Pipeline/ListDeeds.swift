import Glibc
import KymographCore

/// What the audit says of lists that decide whose readings are, what becomes of them and who may bring them: which ones
/// are in use from a start, or from a reload that names them, on.
///
/// By their paths, their counts and the times of their last changes. Not by digests, as mappings are: of a file with
/// few devices or patients, whoever has the digest could find them by trying them all.
struct ListDeeds {
    /// One list.
    struct List: Hashable {
        var kind: DeedKind
        var path: String
        /// The source that has it, or what else does; empty for the instance.
        var user: String
        /// What there is to say of it, without identifiers.
        var text: String

        fileprivate func isSame(as other: List) -> Bool {
            kind == other.kind && path.utf8.elementsEqual(other.path.utf8) && user.utf8.elementsEqual(other.user.utf8)
        }
    }

    /// All of them.
    private(set) var all: [List] = []

    /// Those that `settings` name, as they are now.
    init(_ settings: PipelineSettings) {
        if let book = settings.patients.book {
            let map = book.current.map
            add(.patientsBegin, "the patient map", book.path, "periods \(map.count), devices \(map.deviceCount)")
        }
        if let book = settings.rules {
            let rules = book.current.rules
            add(
                .rulesBegin, "the rules of", book.path,
                "there are \(rules.readings.count), and \(rules.resources.count) for resources")
        }
        for source in settings.sources {
            add(source.configuration.peers, of: source.name)
            if let path = source.configuration.tls.sealedKeyFile {
                add(.peersBegin, "the keys of sealed datagrams of", path, of: source.name)
            }
        }
        add(settings.search.peers, of: "search")
    }

    /// Those of these that `former` does not name.
    func beside(_ former: ListDeeds) -> [List] {
        all.filter { list in !former.all.contains { $0.isSame(as: list) } }
    }

    private mutating func add(_ peers: PeerBook?, of user: String) {
        guard let peers else { return }
        add(.peersBegin, "the peers of", peers.path, "there are \(peers.count)", of: user)
    }

    private mutating func add(
        _ kind: DeedKind, _ what: String, _ path: String, _ counts: String? = nil, of user: String = ""
    ) {
        let rest = [counts, Self.lastChange(of: path)].compactMap { $0 }.joined(separator: ", ")
        let text = "\(user.isEmpty ? "" : "\(user): ")begins with \(what) \(path)\(rest.isEmpty ? "" : ": \(rest)")"
        all.append(List(kind: kind, path: path, user: user, text: text))
    }

    /// Nil for a time that this program has no number for.
    private static func lastChange(of path: String) -> String? {
        guard let seconds = FileSystem.target(path)?.st_mtim.tv_sec, seconds > 0 else { return nil }
        let (nanoseconds, isTooLate) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return isTooLate ? nil : "last changed \(Instant(nanoseconds: nanoseconds).text)"
    }
}
