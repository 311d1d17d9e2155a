import Testing

@testable import Kymograph

/// Dates of searches are spans of time, as FHIR has them.
@Suite struct SearchDateTests {
    private func matches(_ asked: String, _ found: String) throws -> Bool {
        let dates = try SearchDate.all(asked, of: "date")
        let span = try #require(DateSpan(found))
        return dates.contains { $0.matches(span) }
    }

    /// The table of R4's page on search, and what follows from it for partial dates.
    @Test(arguments: [
        ("2026-03-01", "2026-03-01T08:00:00Z", true), ("2026-03-01", "2026-03-02T00:00:00Z", false),
        ("2026-03", "2026-03-31T23:59:59.999Z", true), ("2026", "2026-12-31T23:59Z", true),
        ("2026-03-01T08:00", "2026-03-01T08:00:59.9Z", true), ("2026-03-01T08:00:00Z", "2026-03-01T08:00Z", false),
        ("ne2026-03-01", "2026-03-01T08:00:00Z", false), ("ne2026-03-01", "2026-03", true),
        ("gt2026-03-01", "2026-03-01T23:59:59Z", false), ("gt2026-03-01", "2026-03-02T00:00:00Z", true),
        ("gt2026-03-01", "2026-03", true), ("lt2026-03-01", "2026-02-28T23:59:59Z", true),
        ("lt2026-03-01", "2026-03-01T00:00:00Z", false), ("ge2026-03-01", "2026-03-01T00:00:00Z", true),
        ("ge2026-03-01", "2026-02-28T23:59:59Z", false), ("le2026-03-01", "2026-03-01T23:59:59Z", true),
        ("le2026-03-01", "2026-03-02T00:00:00Z", false), ("sa2026-03-01", "2026-03-01T23:59:59Z", false),
        ("sa2026-03-01", "2026-03-02T00:00:00Z", true), ("eb2026-03-01", "2026-02-28T23:59:59Z", true),
        ("eb2026-03-01", "2026-03-01T00:00:00Z", false), ("2026-03-01T09:00:00+01:00", "2026-03-01T08:00:00Z", true),
        ("2025,2026", "2026-03-01T08:00:00Z", true), ("lt9999", "2026-03-01T08:00:00Z", true),
        ("gt0001", "2026-03-01T08:00:00Z", true), ("ge2261-12-31", "2026-03-01T08:00:00Z", false),
    ])
    func spans(asked: String, found: String, isFound: Bool) throws {
        #expect(try matches(asked, found) == isFound)
    }

    @Test(arguments: [
        "", "2026-13", "2026-02-30", "2026-00-01", "ap2026-03-01", "xx2026", "20260301", "2026-3-1", "2026-03-01T08",
        "2026-03-01T25:00:00Z", "2026-03-01T08:00:00 01:00", "2026-03-01 08:00:00", "2026-03-01T08:00:00Zx", "eq",
        "0000", "2026,", "-2026", "2026-03-01T08:00:00.Z", "2026-03-01T08:00:00+0100", "٢٠٢٦",
        "2026-03-01T08:00:00.1.2Z",
    ])
    func isNone(text: String) {
        #expect(throws: SearchRefusal.self) { try SearchDate.all(text, of: "date") }
    }

    /// What a prefix lets pass lies within what is read of the store for it.
    @Test func whatIsReadIsEnough() throws {
        let spans = try ["2026-03-01", "2026-03-01T08:00:00Z", "2026-02", "2026-03-02", "2026"].map {
            try #require(DateSpan($0))
        }
        for prefix in ["eq", "ne", "gt", "lt", "ge", "le", "sa", "eb"] {
            let date = try SearchDate.all("\(prefix)2026-03-01", of: "date")[0]
            for span in spans where date.matches(span) {
                #expect(span.end >= date.from && span.start <= date.to, "\(prefix) \(span)")
            }
        }
    }
}
