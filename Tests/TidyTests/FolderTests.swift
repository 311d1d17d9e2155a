import Foundation
import Testing

/// Folders use each other in one direction.
@Suite struct FolderTests {
    @Test(arguments: AllowedImports.all) func foldersUseWhatTheyMay(table: AllowedImports) throws {
        let files = try SourceTree.sources().filter { $0.path.hasPrefix("Sources/\(table.module)/") }
        let graph = FolderGraph(of: files)
        #expect(graph.references.count > (table.module == "KymographTemplates" ? 50 : 200))
        let complaints = FolderRules.complaints(graph, table)
        let circles = FolderRules.circles(graph, table)
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))\n\(circles)")
        #expect(circles.isEmpty, "\(circles)")
    }
}

extension AllowedImports: CustomTestStringConvertible {
    var testDescription: String { module }
}

/// The rules find what they are for.
@Suite struct FolderRuleTests {
    private let low = SourceFile(path: "Sources/M/Low/A.swift", text: "struct A { struct Inner {} }")
    private let high = SourceFile(
        path: "Sources/M/High/B.swift", text: "// C of Top\nlet text = \"C\"\nfinal class B {\n    var a: A?\n}")
    private let table = "Low:\nHigh: Low"

    private func complaints(_ files: [SourceFile], _ table: String) -> [String] {
        FolderRules.complaints(FolderGraph(of: files), AllowedImports(module: "M", table: table))
    }

    @Test func letsPassWhatIsAllowed() {
        #expect(complaints([low, high], table).isEmpty)
        #expect(complaints([low, high], "Low:\nHigh:\n  Low").isEmpty)
    }

    @Test func findsAUseOutsideOfTheTable() {
        let back = SourceFile(path: "Sources/M/Low/D.swift", text: "enum D {\n    case b(B)\n}")
        #expect(complaints([low, high, back], table) == ["Sources/M/Low/D.swift:2: Low may not use B of High"])
    }

    @Test func findsFoldersThatTheTableDoesNotHave() {
        let other = SourceFile(path: "Sources/M/Other/E.swift", text: "")
        #expect(complaints([low, high, other], table) == ["M: Other is not in the table"])
        #expect(complaints([low, high], table + "\nOld:") == ["M: there is no folder Old any more"])
    }

    @Test func findsRowsThatNobodyUses() {
        #expect(
            complaints([low, SourceFile(path: "Sources/M/High/B.swift", text: "")], table)
                == ["M: High no longer uses Low: take it out of the table"])
    }

    @Test func findsCirclesOfTheTable() {
        let back = SourceFile(path: "Sources/M/Low/D.swift", text: "let b: B")
        #expect(complaints([low, high, back], "Low: High\nHigh: Low") == ["M: Low stands above High"])
        let graph = FolderGraph(of: [low, high, back])
        #expect(FolderGraph.circles(graph.uses) == [["M/High", "M/Low"]])
        let told = FolderRules.circles(graph, AllowedImports(module: "M", table: table))
        #expect(told.contains("D.swift:1: B of M/High"))
        #expect(FolderGraph.circles(FolderGraph(of: [low, high]).uses).isEmpty)
    }

    @Test func knowsWhichTypeIsMeant() {
        // A type within an extension is of the extension's folder; a name that the file declares itself is its own, and
        // so is a member of something else.
        let extending = SourceFile(path: "Sources/M/Top/C.swift", text: "extension A {\n    enum Later {}\n}")
        let user = SourceFile(path: "Sources/M/High/F.swift", text: "let later: A.Later\nlet inner: A.Inner, b = x.C")
        let own = SourceFile(path: "Sources/M/Low/G.swift", text: "struct G {\n    struct B {}\n    var b: B\n}")
        let references = FolderGraph(of: [low, high, extending, user, own]).references
        #expect(
            references.map { "\($0.from) \($0.to) \($0.type)" } == [
                "M/High M/Low A", "M/Top M/Low A", "M/High M/Low A", "M/High M/Top A.Later", "M/High M/Low A.Inner",
            ])
    }
}
