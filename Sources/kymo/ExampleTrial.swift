import Kymograph
import KymographCore
import KymographTestKit

/// Runs examples of one mapping.
struct ExampleTrial {
    let set: MappingSet
    /// Name of the mapping.
    let mapping: String
    let version: FHIRVersion

    /// What comes of the example's payload, laid out for people.
    func result(_ example: MappingExample) throws(MappingFilesError) -> [UInt8] {
        var options = ObservationOptions()
        options.version = version
        // Far enough ahead that no example's time is in the future.
        let preview = PayloadPreview(
            payload: try example.payload(), set: set, templates: set.templates(of: [mapping]),
            context: SourceContext(), received: Instant(seconds: 4_102_444_800), options: options)
        return PrettyJSON.format(preview.json)
    }

    /// What of it differs from what the example expects; empty when nothing does.
    func differences(_ example: MappingExample) -> [String] {
        let result: [UInt8]
        do throws(MappingFilesError) { result = try self.result(example) } catch { return [error.description] }
        guard let expected = example.output else {
            return ["no expected output; make one with kymo test --update, and read it"]
        }
        do throws(JSONTreeError) {
            return try JSONTree(parsing: result).differences(from: try JSONTree(parsing: expected))
        } catch {
            return ["the expected output is no JSON: \(error.message) at byte \(error.offset)"]
        }
    }
}
