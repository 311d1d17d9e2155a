import ArgumentParser
import Kymograph

/// The flags that name sources, one for each kind in ``IngestKinds/builtIn``.
///
/// The parser learns of options by looking at the properties of a value. Here these are made from the list of kinds, so
/// that a new kind has its flag without another line.
struct SourceOptions: ParsableArguments, CustomReflectable {
    /// The name of a kind's property.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let named: [(key: String, values: [String])]

    init() { named = [] }

    private init(_ named: [(key: String, values: [String])]) { self.named = named }

    /// Standard input alone.
    static var standardInput: SourceOptions { SourceOptions([("stdin", ["true"])]) }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        named = try IngestKinds.builtIn.sources.map { kind in
            let key = Key(stringValue: kind.key)
            switch kind.flag {
            case .option: return (kind.key, try values.decode(Option<[String]>.self, forKey: key).wrappedValue)
            case .toggle:
                let isGiven = try values.decode(Flag<Bool>.self, forKey: key).wrappedValue
                return (kind.key, isGiven ? ["true"] : [])
            }
        }
    }

    var customMirror: Mirror {
        let options = IngestKinds.builtIn.sources.map { kind -> (label: String?, value: Any) in
            switch kind.flag {
            case .option(let help, let valueName):
                let text = ArgumentHelp("\(help)", valueName: valueName)
                return ("_\(kind.key)", Option<[String]>(wrappedValue: [], help: text))
            case .toggle(let help): return ("_\(kind.key)", Flag<Bool>(wrappedValue: false, help: "\(help)"))
            }
        }
        return Mirror(self, children: options, displayStyle: .struct)
    }

    /// What was named, for ``ConfigurationInput/flags``.
    var flags: [(key: String, flag: String, value: String)] {
        named.flatMap { kind in kind.values.map { (kind.key, "--\(kind.key)", $0) } }
    }
}
