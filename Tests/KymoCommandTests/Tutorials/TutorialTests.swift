import CommandSupport
import Testing

/// Every tutorial runs as it stands on its page, in an empty folder, and prints what the page shows.
@Suite struct TutorialTests {
    @Test(arguments: Tutorial.all.filter { !$0.needsServer })
    func runs(tutorial: Tutorial) throws { try run(tutorial) }

    @Test(
        .enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"),
        arguments: Tutorial.all.filter(\.needsServer))
    func runsWithAServer(tutorial: Tutorial) throws { try run(tutorial) }

    private func run(_ tutorial: Tutorial) throws {
        let session = try TutorialSession(tutorial)
        for step in tutorial.steps where step.isRun {
            do {
                try session.run(step)
            } catch let surprise as TutorialSession.Surprise {
                // What follows needs this step.
                Issue.record("docs/tutorials/\(step.page):\(step.line): \(step.script)\n\(surprise)")
                return
            }
        }
    }

    /// Each page has a test.
    @Test func allPagesAreHere() {
        let pages = Files.names(Tutorial.folder).filter { $0.hasSuffix(".md") }
        #expect(pages.sorted() == Tutorial.all.map(\.name).sorted())
    }

    /// No code stands on a page that is neither a step nor what the step before prints.
    @Test(arguments: Tutorial.all)
    func everyBlockIsAStepOrItsOutput(tutorial: Tutorial) {
        var isBehindStep = false
        for block in tutorial.blocks {
            let isStep = TutorialStep.Kind(fence: block.fence) != nil
            let place = "\(tutorial.name):\(block.lines.first?.number ?? 0)"
            #expect(isStep || block.fence == "text" && isBehindStep, "\(place)")
            isBehindStep = isStep
        }
        #expect(tutorial.steps.count { $0.isRun } >= 6)
    }

    /// A step that is not run is listed, and what is listed stands on a page.
    @Test func whatIsNotRunIsListed() {
        let steps = Tutorial.all.flatMap(\.steps).filter { !$0.isRun }
        for step in steps {
            let isListed = TutorialsNotRun.all.contains { step.script.hasPrefix($0.begins) }
            #expect(isListed, "docs/tutorials/\(step.page):\(step.line): \(step.script)")
        }
        for entry in TutorialsNotRun.all {
            #expect(steps.contains { $0.script.hasPrefix(entry.begins) }, "no page has '\(entry.begins)'")
        }
        // Two pages begin with the installation.
        #expect(steps.count == TutorialsNotRun.all.count + 1)
    }

    /// Of each, another test is named that is there.
    @Test func otherTestsAreThere() {
        for entry in TutorialsNotRun.all + TutorialsNotRun.standIns {
            #expect(Files.exists("\(SharedMaterial.package)/\(entry.coveredBy)"), "\(entry.coveredBy)")
            #expect(!entry.reason.isEmpty)
        }
        for entry in TutorialsNotRun.standIns {
            let isUsed = Tutorial.all.flatMap(\.steps).contains { $0.isRun && $0.script.contains("\(entry.begins) ") }
            #expect(isUsed, "no step has '\(entry.begins)'")
        }
    }

    /// What is shown and what is printed are compared line by line.
    @Test(arguments: [
        (["a", "b"], "a\nb\n", true), (["a"], "a\nb\n", false), (["a", "…"], "a\nb\nc\n", true), ([], "a\n", false),
        (["…", "c"], "a\nb\nc\n", true), (["…", "b"], "a\nb\nc\n", false),
        (["received … = …"], "received 2 = 2\n", true),
        (["received …"], "accepted 2\n", false), (["… b … d"], "a b c d\n", true), (["a…a"], "a\n", false),
    ])
    func comparesOutput(shown: [String], printed: String, isSame: Bool) {
        #expect(ShownOutput(lines: shown).matches(printed) == isSame, "\(shown) \(printed)")
    }
}
