fn main() {
    warpsmith_build::kernels("src/kernels.rs");
}
