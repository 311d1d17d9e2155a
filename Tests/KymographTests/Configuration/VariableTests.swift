import Kymograph
import KymographTemplates
import Testing

/// Variables in the values of the configuration file.
@Suite struct VariableTests {
    @Test(arguments: [
        ("${W}", "7m"), ("'${W}'", "7m"), ("\"${W}\"", "7m"), ("${W:-3m}", "7m"), ("${NONE:-3m}", "3m"),
        ("${EMPTY:-3m}", "3m"), ("1h${M}", "1h2m"), ("${ONE}${UNIT:-h}${M}", "1h2m"), ("${NONE:-}5m", "5m"),
        ("|-\n  ${W}", "7m"),
    ])
    func valuesTakeTheirPlace(text: String, value: String) {
        let variables = ["W": "7m", "EMPTY": "", "M": "2m", "ONE": "1"]
        let result = load("window: \(text)\n", environment: variables)
        #expect(result.diagnostics.map(\.text) == [])
        #expect(result.settings.window == load("window: \(value)").settings.window)
    }

    @Test func listsSourcesAndSinksTakeThem() {
        let file = """
            mappings: [reading, "${M}"]
            sources: [{udp: "127.0.0.1:${PORT}", defaultDevice: "${D:-bed 7}"}]
            sinks: [{to: "${OUT}/x", types: ["${M}*"]}]
            """
        let result = load(file, environment: ["M": "wristband", "PORT": "77", "OUT": "/tmp"])
        #expect(result.diagnostics.map(\.text) == [])
        #expect(result.settings.mappings == ["reading", "wristband"])
        #expect(result.settings.sources.map(\.configuration.address.name) == ["udp 127.0.0.1:77"])
        #expect(result.settings.sources.first?.defaultDevice == "bed 7")
        let sinks = result.settings.sinks
        #expect(sinks.map(\.name) == ["files /tmp/x"] && sinks.map(\.types) == [["wristband*"]])
    }

    /// A dollar sign before the mark gives the mark itself; other dollar signs, and what a variable holds, stay.
    @Test(arguments: [
        ("$${W}", "${W}"), ("a$${b", "a${b"), ("$$${W}", "$${W}"), ("a$b$", "a$b$"), ("$W", "$W"), ("{W}", "{W}"),
        ("${R}", "${W}"),
    ])
    func literals(text: String, value: String) {
        let result = load("output: {gateway: '\(text)'}", environment: ["W": "7m", "R": "${W}"])
        #expect(result.diagnostics.map(\.text) == [])
        #expect(result.settings.output.gateway == value)
    }

    @Test(arguments: [
        (
            "window: ${NONE}",
            "1:9: error: window: the variable NONE is not set; set it in the environment, or write ${NONE:-default}"
        ),
        (
            "window: ${EMPTY}",
            "1:9: error: window: the variable EMPTY is not set; set it in the environment, or write ${EMPTY:-default}"
        ),
        (
            "deadLetter: \"a$${b${W}/${NONE}\"",
            "1:24: error: deadLetter: the variable NONE is not set; set it in the environment, or write "
                + "${NONE:-default}"
        ),
        ("window: a${W", "1:10: error: window: '${' has no '}'; add it, or write $${ for '${'"),
        (
            "mappings: [a, 'b${1}']",
            "1:17: error: mappings: '${1}' is no variable; write ${NAME} or ${NAME:-default}, with letters, digits "
                + "and _ in the name, or $${ for '${'"
        ),
        (
            "window: ${W-7m}",
            "1:9: error: window: '${W-7m}' is no variable; write ${NAME} or ${NAME:-default}, with letters, digits "
                + "and _ in the name, or $${ for '${'"
        ),
        (
            "window: ${NONE:-${W}}",
            "1:9: error: window: a default cannot hold another variable; write the value itself"
        ),
        ("lanes: ${W}", "1:8: error: lanes: '7m' is not a whole number; write a whole number from 1 to 256"),
        ("lanes: ${NONE:-}", "1:8: error: lanes: '' is not a whole number; write a whole number from 1 to 256"),
        ("${W}: 1", "1:1: error: unknown key '${W}'; variables can stand in values only"),
        (
            "deadLetter: \"\\x24{NONE}\"",
            "1:13: error: deadLetter: the variable NONE is not set; set it in the environment, or write "
                + "${NONE:-default}"
        ),
    ])
    func problems(file: String, message: String) {
        #expect(messages(file, environment: ["W": "7m", "EMPTY": ""]) == ["kymo.yaml:\(message)"])
    }

    /// A program that embeds the library gives other variables than those that are settings.
    @Test func variablesAreNoSettings() {
        var input = ConfigurationInput(file: (name: "kymo.yaml", bytes: Array("window: ${KYMO_LANES}m".utf8)))
        input.variables = ["KYMO_LANES": "3"]
        let result = ConfigurationLoader.load(input)
        #expect(result.diagnostics.isEmpty && result.settings.window == 180_000_000_000 && result.settings.lanes == 0)
    }
}
