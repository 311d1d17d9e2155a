import KymographCore
import KymographTemplates

/// An Observation of the archive as a search gives it, and what a search may ask for of it.
struct ServedObservation {
    /// Its id.
    let id: String
    /// JSON, with version and time of writing in `meta`.
    let resource: [UInt8]
    /// How often its window was written.
    let revision: Int
    /// Where it is.
    let place: WalkPlace
    /// When its window was written last.
    let lastUpdated: DateSpan

    let status: String?
    let identifiers: [SystemValue]
    let codes: [SystemValue]
    let categories: [SystemValue]
    let subject: SystemValue
    let device: SystemValue
    /// Nil without `effective[x]`.
    let effective: DateSpan?
    /// Whose readings it has.
    let series: SeriesIdentity

    /// Nil for another resource, and for one without an id.
    init?(_ entry: WalkQueue.Entry, _ series: SeriesIdentity) {
        var log = DiagnosticLog(file: "")
        guard let bytes = entry.resource, let root = JSONNode.parse(bytes, log: &log),
            root["resourceType"]?.string == "Observation", let id = root["id"]?.string
        else { return nil }
        let modified = Instant(nanoseconds: entry.head.modified).text
        guard let resource = Self.stamped(bytes, id, modified, entry.head.revision),
            let lastUpdated = DateSpan(modified)
        else { return nil }
        (self.id, self.resource, self.lastUpdated) = (id, resource, lastUpdated)
        (revision, place, self.series) = (entry.head.revision, entry.place, series)
        status = root["status"]?.string
        identifiers = root["identifier"]?.elements?.map(\.systemValue) ?? []
        codes = root["code"]?.codings ?? []
        categories = root["category"]?.elements?.flatMap(\.codings) ?? []
        (subject, device) = (root["subject"].referred, root["device"].referred)
        effective = Self.effective(root)
    }

    /// `bytes` with version and time in `meta`, which stands behind the id where there is one.
    private static func stamped(_ bytes: [UInt8], _ id: String, _ modified: String, _ revision: Int) -> [UInt8]? {
        let head = Array("{\"resourceType\":\"Observation\",\"id\":\"\(id)\",".utf8)
        let meta = Array("\"meta\":{".utf8)
        guard bytes.starts(with: head) else { return nil }
        let stamp = "\"versionId\":\"\(revision)\",\"lastUpdated\":\"\(modified)\""
        guard bytes[head.count...].starts(with: meta) else {
            return head + "\"meta\":{\(stamp)},".utf8 + bytes[head.count...]
        }
        return head + meta + "\(stamp),".utf8 + bytes[(head.count + meta.count)...]
    }

    private static func effective(_ root: JSONNode) -> DateSpan? {
        for name in ["effectiveDateTime", "effectiveInstant"] {
            if let text = root[name]?.string { return DateSpan(text) }
        }
        guard let period = root["effectivePeriod"] else { return nil }
        // A border that is not stated is open.
        let start = period["start"]?.string.flatMap { DateSpan($0) }
        let end = period["end"]?.string.flatMap { DateSpan($0) }
        return DateSpan(start: start?.start ?? .min, end: end?.end ?? .max)
    }
}

extension JSONNode {
    /// The member `name`; nil when there is none.
    fileprivate subscript(name: String) -> JSONNode? { members?.last { $0.name == name }?.node }

    /// Those of an Identifier.
    fileprivate var systemValue: SystemValue {
        SystemValue(system: self["system"]?.string, value: self["value"]?.string)
    }

    /// The codings of a CodeableConcept.
    fileprivate var codings: [SystemValue] {
        self["coding"]?.elements?.map { SystemValue(system: $0["system"]?.string, value: $0["code"]?.string) } ?? []
    }
}

extension JSONNode? {
    /// The identifier of a Reference.
    fileprivate var referred: SystemValue { self?["identifier"]?.systemValue ?? SystemValue() }
}
