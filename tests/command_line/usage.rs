//! Wrong command lines and what is said of them, word for word. `TRYCMD=overwrite` writes the cases anew; read the difference.

#[test]
fn wrong_command_lines_are_explained() {
    trycmd::TestCases::new()
        .register_bin("pomp", std::path::Path::new(env!("CARGO_BIN_EXE_pomp")))
        .env("NO_COLOR", "1")
        .env("COLUMNS", "120")
        .case("../../tests/command_line/usage/*.trycmd");
}
