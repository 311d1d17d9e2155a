import ArgumentParser
import Kymograph

/// `--device-mapping` and `--fhir-mapping`: a mapping by its two files.
struct MappingFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Mapping by its two files, of any names, as the MedTech service has them: the one with device templates.",
            valueName: "file"), completion: .file())
    var deviceMapping: String?

    @Option(
        help: ArgumentHelp("The file with its FHIR templates; goes with --device-mapping.", valueName: "file"),
        completion: .file())
    var fhirMapping: String?

    /// As settings of the configuration.
    var flags: [(key: String, flag: String, value: String)] {
        let named = [
            ("deviceMapping", "--device-mapping", deviceMapping), ("fhirMapping", "--fhir-mapping", fhirMapping),
        ]
        return named.compactMap { key, flag, value in value.map { (key, flag, $0) } }
    }

    /// The mapping, nil when it is not named; exits with status 78 when only one file is.
    func reference() throws -> MappingReference? {
        switch (deviceMapping, fhirMapping) {
        case (let device?, let fhir?): return .files(device: device, fhir: fhir)
        case (nil, nil): return nil
        case (_?, nil), (nil, _?):
            let (given, missing) =
                fhirMapping == nil ? ("--device-mapping", "--fhir-mapping") : ("--fhir-mapping", "--device-mapping")
            throw StandardError.exit(
                "\(given) is given without \(missing): name both files of the mapping", code: ExitStatus.config)
        }
    }
}
