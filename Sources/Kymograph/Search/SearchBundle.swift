import KymographCore

/// Resources that a search gives, as FHIR JSON.
enum SearchBundle {
    /// The media type of replies.
    static let contentType = "application/fhir+json; charset=utf-8"

    /// A searchset Bundle with links below `base`.
    static func searchset(_ page: FoundPage, _ query: SearchQuery, base: String, cursor: SearchCursor) -> [UInt8] {
        var bundle = JSONMembers()
        bundle.add("resourceType", "Bundle")
        bundle.add("type", "searchset")
        if let total = page.total { bundle.add("total", total) }
        let address = "\(base)/Observation"
        var links = [link("self", address, query, cursor: query.cursor)]
        if let next = page.next { links.append(link("next", address, query, cursor: cursor.text(next))) }
        bundle.add("link", list: links)
        let entries = page.observations.map { entry($0, address) } + warnings(page)
        if !entries.isEmpty { bundle.add("entry", list: entries) }
        return bundle.finished()
    }

    private static func link(
        _ relation: String, _ address: String, _ query: SearchQuery, cursor: String?
    ) -> [UInt8] {
        // What came as a form is sent again as one, to the link: an identifier in it would be in an address.
        let path = query.isForm ? "\(address)/_search" : address
        var pairs = query.isForm ? [] : query.pairs
        if let cursor { pairs.append((SearchParameters.cursor, cursor)) }
        let text = pairs.map { "\(SearchText.encoded($0.name))=\(SearchText.encoded($0.value))" }
            .joined(separator: "&")
        var link = JSONMembers()
        link.add("relation", relation)
        link.add("url", text.isEmpty ? path : "\(path)?\(text)")
        return link.finished()
    }

    private static func entry(_ observation: ServedObservation, _ address: String) -> [UInt8] {
        var entry = JSONMembers()
        entry.add("fullUrl", "\(address)/\(observation.id)")
        entry.add("resource", json: observation.resource)
        entry.add("search", json: Array("{\"mode\":\"match\"}".utf8))
        return entry.finished()
    }

    /// What is left out, as an entry of its own.
    private static func warnings(_ page: FoundPage) -> [[UInt8]] {
        var issues: [[UInt8]] = []
        if page.damaged > 0 {
            let windows = CountText.of(page.damaged, one: "damaged window is", many: "damaged windows are")
            issues.append(issue("warning", "incomplete", "\(windows) left out"))
        }
        if !page.unwritable.isEmpty {
            let names = page.unwritable.joined(separator: ", ")
            issues.append(
                issue("warning", "incomplete", "left out, since the mappings have no template for it: \(names)"))
        }
        guard !issues.isEmpty else { return [] }
        var entry = JSONMembers()
        entry.add("resource", json: outcome(issues))
        entry.add("search", json: Array("{\"mode\":\"outcome\"}".utf8))
        return [entry.finished()]
    }

    // MARK: OperationOutcome

    /// What is said of `refusal`.
    static func outcome(_ refusal: SearchRefusal) -> [UInt8] {
        outcome([issue("error", refusal.code, refusal.message, refusal.parameter)])
    }

    private static func outcome(_ issues: [[UInt8]]) -> [UInt8] {
        var outcome = JSONMembers()
        outcome.add("resourceType", "OperationOutcome")
        outcome.add("issue", list: issues)
        return outcome.finished()
    }

    private static func issue(
        _ severity: String, _ code: String, _ text: String, _ parameter: String? = nil
    ) -> [UInt8] {
        var issue = JSONMembers()
        issue.add("severity", severity)
        issue.add("code", code)
        issue.add("diagnostics", text)
        // A parameter of HTTP is named so (FHIR, OperationOutcome.issue.expression).
        if let parameter { issue.add("expression", texts: ["http.\(parameter)"]) }
        return issue.finished()
    }
}
