import KymographCore
import Testing

@testable import Kymograph

/// What is not understood is refused: without it a search would show more than was asked for.
@Suite struct SearchParametersTests {
    private func query(_ text: String, isLenient: Bool = false) throws -> SearchQuery {
        try SearchParameters.query(SearchText.pairs(text), isLenient: isLenient)
    }

    @Test(arguments: [
        ("patientt=a%7Cb", "patientt"), ("patient=b", "patient"), ("patient=Patient/b", "patient"),
        ("patient=a%7C", "patient"), ("patient=", "patient"), ("patient", "patient"), ("patient=a%7Cb,", "patient"),
        ("patient:missing=true", "patient:missing"), ("patient.name=b", "patient.name"), ("code:not=a", "code:not"),
        ("code=a%7Cb%7Cc", "code"), ("code=%5Ca", "code"), ("code=a%5C", "code"), ("code=%7C", "code"),
        ("status=done", "status"), ("date=yesterday", "date"), ("date=2026-03-01T08:00:00+01:00", "date"),
        ("_count=-1", "_count"), ("_count=ten", "_count"), ("_count=1&_count=2", "_count"), ("_count=٣", "_count"),
        ("_sort=code", "_sort"), ("_sort=date,code", "_sort"), ("_sort=date&_sort=-date", "_sort"),
        ("_summary=text", "_summary"), ("_id=a/b", "_id"), ("_include=Observation:subject", "_include"),
        ("value-quantity=gt5", "value-quantity"), ("patient=a%7C%00", "patient"), ("patient=a%7C%zz", "patient"),
        ("patient=a%7C%2", "patient"), ("patient=a%7C%FF", "patient"), ("patient=a%7C%0A", "patient"),
        ("_cursor=00&_count=0", "_cursor"), ("_summary=count&_cursor=00", "_cursor"),
        ("_has:Group:member:_id=1", "_has:Group:member:_id"), ("' OR 1=1 --=1", "(parameter)"),
    ])
    func refuses(text: String, parameter: String) {
        let refusal = #expect(throws: SearchRefusal.self) { try query(text) }
        #expect(refusal?.status == 400 && refusal?.parameter == parameter, "\(String(describing: refusal))")
        #expect(refusal?.message.contains(parameter) ?? false)
    }

    /// Unknown names alone are passed over by a lenient search, and are not in its links.
    @Test func lenient() throws {
        #expect(try query("colour=red&code=a", isLenient: true).pairs.map(\.name) == ["code"])
        for text in [
            "code=%7C", "patient:missing=true", "patient.name=x", "_count=a", "date=b", "patient:\u{301}x=1",
        ] {
            #expect(throws: SearchRefusal.self) { try query(text, isLenient: true) }
        }
    }

    @Test func counts() throws {
        #expect(try query("").count == 50 && query("_count=7").count == 7)
        #expect(try query("_count=99999999999999999999999999").count == 1_000)
        #expect(try query("_count=0").isCountOnly && query("_summary=count").isCountOnly)
    }

    @Test func tooMany() {
        let many = Array(repeating: "code=a", count: 51).joined(separator: "&")
        #expect(throws: SearchRefusal.self) { try query(many) }
        let values = Array(repeating: "a", count: 101).joined(separator: ",")
        #expect(throws: SearchRefusal.self) { try query("code=\(values)") }
    }

    /// What combines with a separator does not hide the parameter behind it.
    @Test func separators() throws {
        let pairs = try SearchText.pairs("x=1&\u{301}patient=a&code=\u{301}b")
        #expect(pairs.map { Array($0.name.utf8) } == ["x", "\u{301}patient", "code"].map { Array($0.utf8) })
        #expect(pairs.map { Array($0.value.utf8) } == ["1", "a", "\u{301}b"].map { Array($0.utf8) })
        #expect(throws: SearchRefusal.self) { try query("code=a&\u{301}patient=s%7Cp") }
    }

    /// A client has a few turns, whatever others have.
    @Test func turns() {
        let turns = SearchTurns()
        for _ in 0..<SearchTurns.most { #expect(turns.take([1])) }
        #expect(!turns.take([1]) && turns.take([2]))
        turns.giveBack([1])
        #expect(turns.take([1]) && !turns.take([1]))
    }

    /// The log has all series that were served, some a line.
    @Test func auditedSeries() {
        let lines = AuditDeed.parts(series: Set(1...1_000))
        #expect(lines.count == 3 && lines[0].hasPrefix("series 1, 2, ") && lines[2].hasSuffix(", 999, 1000"))
        #expect(lines.joined(separator: ", ").split(separator: ", ").count == 1_000)
        #expect(AuditDeed.parts(series: nil) == ["all series"] && AuditDeed.parts(series: []) == ["no series"])
        let ranges = AuditDeed.parts("dead letters", first: "9 dead letters:", ["1-8", "10"])
        #expect(ranges == ["9 dead letters: 1-8, 10"])
        let many = AuditDeed.parts("dead letters", (0..<1_000).map { "\(Int.max - $0)" })
        #expect(many.allSatisfy { $0.utf8.count < 3_000 } && many[1].hasPrefix("also dead letters 922"))
    }

    /// Tokens are compared byte by byte: texts that Unicode calls equivalent are two.
    @Test func tokens() throws {
        func matches(_ asked: String, _ system: String?, _ value: String) throws -> Bool {
            try SearchToken.all(asked, of: "code").contains { $0.matches(SystemValue(system: system, value: value)) }
        }
        #expect(try matches("s|v", "s", "v") && !matches("s|v", "s", "w") && !matches("s|v", nil, "v"))
        #expect(try matches("|v", nil, "v") && !matches("|v", "s", "v") && matches("v", "s", "v"))
        #expect(try matches("s|", "s", "anything") && !matches("s|", "t", "anything"))
        #expect(try matches("a,v", "s", "v") && matches("a\\,v", nil, "a,v") && !matches("a\\,v", nil, "v"))
        #expect(try matches("s|a\\|b", "s", "a|b") && matches("a\\\\b", nil, "a\\b"))
        #expect(try !matches("é", nil, "e\u{301}") && !matches("V", nil, "v") && !matches("v", nil, "v "))
        // A comma and what combines with it are two characters of Unicode in one.
        #expect(try matches("a,\u{301}b", nil, "a"))
    }

    /// A cursor is of one query and one client.
    @Test func cursors() throws {
        let asked = try query("patient=s%7Cp&_count=5")
        let cursor = SearchCursor(key: [1, 2, 3], query: asked)
        let place = WalkPlace(rank: -5, start: .min, series: 7, part: .max)
        let text = cursor.text(place)
        #expect(try cursor.place(text) == place)
        #expect(try SearchCursor(key: [1, 2, 3], query: query("patient=s%7Cp&_count=9")).place(text) == place)
        for other in ["patient=s%7Cq&_count=5", "patient=s%7Cp&_count=5&_sort=date", "patient=s%7Cp,q%7Cr", ""] {
            #expect(throws: SearchRefusal.self) { try SearchCursor(key: [1, 2, 3], query: query(other)).place(text) }
        }
        #expect(throws: SearchRefusal.self) { try SearchCursor(key: [1, 2, 4], query: asked).place(text) }
        for index in text.indices where text[index] != "0" {
            let forged = text.replacingCharacters(in: index...index, with: "0")
            #expect(throws: SearchRefusal.self) { try cursor.place(forged) }
        }
        for forged in ["", "x", String(text.dropLast()), text + "0", String(repeating: "é", count: 96)] {
            #expect(throws: SearchRefusal.self) { try cursor.place(forged) }
        }
    }
}

extension String {
    fileprivate func replacingCharacters(in range: ClosedRange<String.Index>, with text: String) -> String {
        var copy = self
        copy.replaceSubrange(range, with: text)
        return copy
    }
}
