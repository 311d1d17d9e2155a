import KymographCore
import KymographTemplates

extension PayloadExplanation {
    /// Version of the form. A member is added without another version; one is never renamed within it.
    private static let version = 1
    /// Matches of a template that are written. A payload may have thousands, which are alike.
    static let mostMatches = 200

    /// The form of docs/explain.md, without layout; `rejected` is what the payload's preview says was rejected.
    func json(_ rejected: [PayloadPreview.Rejected]) -> [UInt8] {
        var object = JSONMembers()
        object.add("version", Self.version)
        if let refusal { object.add("refused", json: json(refusal)) }
        object.add("documents", list: documents.map(json))
        let hints = self.hints
        if !rejected.isEmpty { object.add("rejections", list: rejected.map { json($0, hints) }) }
        object.add("nearest", nearestText)
        object.add("isCut", if: isCut)
        return object.finished()
    }

    private func json(_ refusal: ScanFailure) -> [UInt8] {
        var object = JSONMembers()
        object.add("reason", refusal.reason.name)
        object.add("offset", refusal.offset)
        object.add("explanation", refusal.reason.explanation)
        return object.finished()
    }

    private func json(_ rejected: PayloadPreview.Rejected, _ hints: [Cause: String]) -> [UInt8] {
        var object = JSONMembers()
        object.add("reason", rejected.reason.name)
        if !rejected.detail.isEmpty { object.add("detail", rejected.detail) }
        object.add("explanation", rejected.reason.explanation)
        object.add(
            "hint", rejected.reason == .noTemplate ? nearestText : hints[Cause(rejected.reason, rejected.detail)])
        return object.finished()
    }

    /// Why and by which field a reading was rejected.
    private struct Cause: Hashable {
        var reason: Rejection
        var detail: [UInt8]

        init(_ reason: Rejection, _ detail: String) { (self.reason, self.detail) = (reason, Array(detail.utf8)) }
    }

    private var nearestText: String? { nearest.map { String($0.dropFirst(NearestTemplate.prefix.count)) } }

    /// What to write in a mapping, where that is known. Rejections of a payload do not name the mapping.
    private var hints: [Cause: String] {
        var hints: [Cause: String] = [:]
        for document in documents {
            for template in document.templates {
                for match in template.matches {
                    guard let rejection = match.outcome.rejection, let hint = match.hint else { continue }
                    let detail = match.outcome.detail
                    let mapping = "mapping \(template.mapping), "
                    let short = detail.hasPrefix(mapping) ? String(detail.dropFirst(mapping.count)) : detail
                    hints[Cause(rejection, short)] = hint
                }
            }
        }
        return hints
    }

    private func json(_ document: Document) -> [UInt8] {
        var object = JSONMembers()
        object.add("start", document.start)
        object.add("decoded", document.decoded)
        let nearest = document.nearest
        object.add(
            "templates", list: document.templates.enumerated().map { json($0.element, isNearest: $0.offset == nearest) }
        )
        return object.finished()
    }

    private func json(_ template: TemplateExplanation, isNearest: Bool) -> [UInt8] {
        var object = JSONMembers()
        object.add("mapping", template.mapping)
        object.add("type", template.typeName)
        object.add("file", files.first { $0.mapping == template.mapping }?.file ?? TemplateKind.device.fileName)
        object.add("line", template.line)
        object.add("expression", template.matchExpression)
        object.add("outcome", template.outcome)
        object.add("failure", template.failure)
        object.add("meant", template.meant)
        object.add("isNearest", if: isNearest)
        if !template.missing.isEmpty { object.add("names", list: template.missing.map(\.nameJSON)) }
        let shown = template.matches.prefix(Self.mostMatches)
        if !shown.isEmpty { object.add("matches", list: shown.map(\.json)) }
        if shown.count < template.matchCount { object.add("matchesLeftOut", template.matchCount - shown.count) }
        return object.finished()
    }
}

extension TemplateExplanation {
    /// `matched`, `notMatched` or `failed`.
    fileprivate var outcome: String {
        failure != nil ? "failed" : matchCount == 0 ? "notMatched" : "matched"
    }
}

extension TemplateExplanation.Match {
    /// What to write in the place of an expression that selects nothing; nil when nothing is known.
    var hint: String? {
        fields.first { $0.meant != nil }.map { "\($0.name) \($0.expression): did you mean '\($0.meant ?? "")'?" }
    }

    fileprivate var json: [UInt8] {
        var object = JSONMembers()
        object.add(range)
        object.add(
            "outcome", outcome.values != nil ? "reading" : outcome.rejection != nil ? "rejected" : "notEvaluated")
        if let rejection = outcome.rejection {
            object.add("reason", rejection.name)
            if !outcome.detail.isEmpty { object.add("detail", outcome.detail) }
            object.add("explanation", rejection.explanation)
            object.add("hint", hint)
        }
        if let values = outcome.values { object.add("values", list: values.map { Self.json($0.name, $0.text) }) }
        let conversions = self.conversions
        if !conversions.isEmpty { object.add("conversions", list: conversions) }
        object.add("expressions", list: fields.map(\.json))
        return object.finished()
    }

    private static func json(_ name: String, _ text: String) -> [UInt8] {
        var object = JSONMembers()
        object.add("name", name)
        object.add("text", text)
        return object.finished()
    }

    /// Values that were kept with another text than the payload has: by units, scales and maps.
    private var conversions: [[UInt8]] {
        (outcome.values ?? []).compactMap { name, text in
            guard let json = fields.first(where: { $0.isValue(name) })?.value, let given = ValueText.scalar(json),
                !given.utf8.elementsEqual(text.utf8)
            else { return nil }
            var object = JSONMembers()
            object.add("name", name)
            object.add("from", given)
            object.add("to", text)
            return object.finished()
        }
    }
}

extension TemplateExplanation.Field {
    /// Whether it is the expression of the value `name`.
    fileprivate func isValue(_ name: String) -> Bool {
        guard case .value(let own, _)? = role else { return false }
        return own == name
    }

    /// An expression of a match.
    fileprivate var json: [UInt8] {
        var object = JSONMembers()
        if let (role, name) = role?.json {
            object.add("role", role)
            object.add("name", name)
        }
        if case .value(_, isRequired: true)? = role { object.add("isRequired", if: true) }
        object.add("expression", expression)
        addValue(to: &object)
        object.add("meant", meant)
        return object.finished()
    }

    /// A name that a match expression mentions.
    fileprivate var nameJSON: [UInt8] {
        var object = JSONMembers()
        object.add("name", name)
        addValue(to: &object)
        return object.finished()
    }

    private func addValue(to object: inout JSONMembers) {
        guard let valueBytes else { return object.add("problem", result) }
        if let value {
            object.add("value", json: ValueText.compact(value))
        } else {
            object.add("valueBytes", valueBytes)
        }
        object.add(range)
    }
}

extension FieldRole {
    /// What programs call it, and of what value it is.
    fileprivate var json: (role: String, name: String?) {
        switch self {
        case .device: ("device", nil)
        case .timestamp: ("timestamp", nil)
        case .secondTimestamp: ("secondTimestamp", nil)
        case .start: ("start", nil)
        case .correlation: ("correlation", nil)
        case .patient: ("patient", nil)
        case .encounter: ("encounter", nil)
        case .readingId: ("readingId", nil)
        case .value(let name, _): ("value", name)
        case .unit(let name): ("unit", name)
        case .scale(let name): ("scale", name)
        }
    }
}

/// A value of a payload, as JSON.
enum ValueText {
    /// `json` without the white space between its parts.
    static func compact(_ json: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(json.count)
        var (isInText, isEscaped) = (false, false)
        for byte in json {
            if isInText {
                isInText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                continue
            } else {
                isInText = byte == UInt8(ascii: "\"")
            }
            output.append(byte)
        }
        return output
    }

    /// What a text or number says, without quotes and escapes; nil of anything else.
    static func scalar(_ json: [UInt8]) -> String? {
        guard json.count >= 2, json[0] == UInt8(ascii: "\"") else {
            let isNumber = json.first.map { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) } ?? false
            return isNumber ? String(decoding: json, as: UTF8.self) : nil
        }
        var writer = ByteWriter(capacity: json.count)
        let storage = PaddedBytes(copying: json)
        JSONUnescape.append(storage.view[1..<(json.count - 1)], into: &writer)
        return writer.view.string
    }
}
