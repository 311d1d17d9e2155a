import FoundationEssentials
import KymographCore

/// A record of the audit trail as a FHIR R4 AuditEvent, with the codes of DICOM PS3.16 (CID 400 and 402) that IHE ATNA
/// has.
package struct AuditEvent: Encodable {
    private struct Coding: Encodable {
        var system: String
        var code: String
        var display: String
    }
    /// Of kymo's own, which has no system.
    private struct Subtype: Encodable {
        var code: String
    }
    private struct Named: Encodable {
        var display: String
    }
    private struct Agent: Encodable {
        var who: Named
        var requestor = true
    }
    private struct Source: Encodable {
        var observer: Named
    }
    private struct Entity: Encodable {
        var what: Named
        var description: String
    }

    private let resourceType = "AuditEvent"
    private var id: String?
    private let type: Coding
    private let subtype: [Subtype]
    private let action: String
    private let recorded: String
    private let outcome: String
    private let outcomeDesc: String?
    private let agent: [Agent]
    private let source: Source
    private let entity: [Entity]

    /// The event that `record` tells of.
    package init(_ record: AuditRecord) {
        let deed = DeedKind(rawValue: record.event)
        let kind = deed.map { Kind($0) } ?? .activity
        type = Coding(system: "http://dicom.nema.org/resources/ontology/DCM", code: kind.code, display: kind.display)
        subtype = [Subtype(code: record.event)]
        action = kind.action
        recorded = record.time
        let isRefusal = [.peerRefused, .clientRefused, .consoleRefused].contains(deed)
        // Minor failure, or success (http://hl7.org/fhir/R4/valueset-audit-event-outcome.html).
        outcome = isRefusal ? "4" : "0"
        outcomeDesc = isRefusal ? record.text : nil
        // FHIR has no empty strings.
        agent = [Agent(who: Named(display: record.agent.isEmpty ? "unknown" : record.agent))]
        source = Source(observer: Named(display: "kymo"))
        entity = [
            Entity(what: Named(display: "record \(record.sequence) of the audit trail"), description: record.text)
        ]
    }

    /// As one line of NDJSON.
    package var line: [UInt8] { json.isEmpty ? [] : json + [0x0A] }

    /// As a resource of this id, or without one.
    func resource(id: String?) -> [UInt8] {
        var event = self
        event.id = id
        return event.json
    }

    private var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Nothing in it can fail to be encoded: texts alone.
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }

    /// Kinds that DICOM tells apart.
    private enum Kind {
        case query, export, login, alert, activity

        init(_ deed: DeedKind) {
            switch deed {
            case .query, .ledger, .deadShow, .sourcesList, .search, .tapReveal, .consoleReveal: self = .query
            // What was encrypted leaves the store readable.
            case .export, .decrypt: self = .export
            // A wrong code is a login, too, which has failed.
            case .consoleCode, .consoleLogin, .consoleRefused: self = .login
            case .peerRefused, .clientRefused: self = .alert
            case .keys, .deadReplay, .deadDiscard, .sourcesRemove, .pause, .resume, .reset, .consoleReplay,
                .consoleDiscard, .consoleSave, .mappingsBegin, .mappingsChanged, .patientsBegin, .rulesBegin,
                .peersBegin, .settingsChanged, .patientsLoaded, .patientsChanged, .rulesLoaded, .peersLoaded,
                .auditLost:
                self = .activity
            }
        }

        var code: String {
            switch self {
            case .query: "110112"
            case .export: "110106"
            case .login: "110114"
            case .alert: "110113"
            case .activity: "110100"
            }
        }

        var display: String {
            switch self {
            case .query: "Query"
            case .export: "Export"
            case .login: "User Authentication"
            case .alert: "Security Alert"
            case .activity: "Application Activity"
            }
        }

        /// Execute or read, as DICOM PS3.15 A.5.3 has them.
        var action: String {
            switch self {
            case .export: "R"
            case .query, .login, .alert, .activity: "E"
            }
        }
    }
}
